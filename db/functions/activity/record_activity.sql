-- The one way into the activity log. Drops what has no workspace (an archive without a squad) and what coalesces, inserts
-- the rest in one statement. People named by a draft that is not recorded are told all the same; should that fail, what
-- was recorded stands.
-- Called by: the functions track() generates and log_activity(), as bellwire_definer.
-- Errors: none of its own.
-- Source: reference 000, section 2, steps 1 to 4.
create or replace function bellwire.record_activity(drafts bellwire.activity_draft[])
returns void
language plpgsql
security definer
set search_path = ''
as $$
declare
  untold bellwire.fan_out_event[];
  state text;
  message text;
  context text;
begin
  with placed as materialized (
    select
      draft.*,
      draft.is_recorded and not (
        rule.coalesce_seconds is not null
        and draft.actor_id is not null
        and exists (
          select
          from bellwire.activity_log as earlier
          where earlier.resource_id = draft.resource_id
            and earlier.actor_id = draft.actor_id
            and earlier.action = draft.action
            and earlier.created_at > now() - make_interval(secs => rule.coalesce_seconds)
        )
      ) as is_fresh
    from unnest(drafts) as draft
    join bellwire.action_rules as rule on rule.action = draft.action
    where draft.workspace_id is not null and draft.scope_id is not null
  ),
  recorded as (
    insert into bellwire.activity_log (workspace_id, scope_id, actor_id, action, resource_id, metadata, named_ids)
    select
      workspace_id, scope_id, actor_id, action, resource_id,
      case when octet_length(metadata::text) > 8192 then bellwire.shorten_metadata(metadata)
        else coalesce(metadata, '{}') end,
      named_ids
    from placed
    where is_fresh
  )
  select array_agg(
    row(
      null, action, actor_id, workspace_id, scope_id, resource_id, metadata, named_ids, true
    )::bellwire.fan_out_event)
  into untold
  from placed
  where not is_fresh and named_ids is not null;

  if untold is not null then
    begin
      perform bellwire.tell_or_queue(untold);
    exception when others then
      get stacked diagnostics state = returned_sqlstate, message = message_text, context = pg_exception_context;
      perform bellwire.fail_rule('fan_out', null, state, message, context);
    end;
  end if;
end
$$;

comment on function bellwire.record_activity(bellwire.activity_draft[]) is
  'Writes drafts to activity_log, dropping what coalesces; the rules then run as its triggers.';

revoke all on function bellwire.record_activity(bellwire.activity_draft[]) from public;
