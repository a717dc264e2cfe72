-- The one way into the activity log. Drops what has no workspace (an archive without a squad) and what coalesces, inserts
-- the rest in one statement, and calls the rules with what it has looked up on the way. People named by a draft that is
-- not recorded are told all the same. A rule that fails notes that in rule_failures; the entry and the other rules stand.
-- Rejected: the rules as triggers of activity_log. Each looked up the same rows again; it took half as long again.
-- Called by: the functions track() generates and log_activity(), as bellwire_definer.
-- Errors: none of its own.
-- Returns: how many events it handed to the rules, null for none.
-- Source: reference 000, section 2.
create or replace function bellwire.record_activity(drafts bellwire.activity_draft[])
returns integer
language plpgsql
security definer
set search_path = ''
as $$
declare
  events bellwire.rule_event[];
  is_emitted boolean;
  is_watched boolean;
  is_told boolean;
  failed_count integer;
begin
  with placed as materialized (
    select
      draft.action, draft.actor_id, draft.workspace_id, draft.scope_id, draft.resource_id, draft.metadata, draft.named_ids,
      case when draft.is_recorded and not (
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
      ) then nextval('bellwire.activity_log_id_seq') end as activity_id,
      rule.verb, rule.target, rule.emits, rule.auto_watch, rule.watcher_kind, rule.owner_kind, rule.named_kind,
      subject.title, subject.link_path, subject.ancestors, subject.owner_id,
      parent.id as parent_id, parent.title as parent_title, parent.ancestors as parent_ancestors,
      parent.owner_id as parent_owner_id
    from unnest(drafts) as draft
    join bellwire.action_rules as rule on rule.action = draft.action
    join bellwire.resources as subject on subject.id = draft.resource_id
    -- A look-up per row: a kept plan would otherwise merge, and read the registry from its beginning.
    left join lateral (
      select above.id, above.title, above.ancestors, above.owner_id
      from bellwire.resources as above
      where rule.target = 'parent' and above.id = subject.parent_id
      offset 0
    ) as parent on true
    where draft.workspace_id is not null and draft.scope_id is not null
  ),
  recorded as (
    insert into bellwire.activity_log (id, workspace_id, scope_id, actor_id, action, resource_id, metadata, named_ids)
    overriding system value
    select
      activity_id, workspace_id, scope_id, actor_id, action, resource_id,
      case when octet_length(metadata::text) > 8192 then bellwire.shorten_metadata(metadata)
        else coalesce(metadata, '{}') end,
      named_ids
    from placed
    where activity_id is not null
  ),
  event as (
    select
      activity_id, action, actor_id, workspace_id, scope_id, metadata ->> 'excerpt' as excerpt, named_ids, title,
      activity_id is not null and emits as emits,
      case when activity_id is not null and actor_id is not null then auto_watch end as auto_watch,
      verb,
      case when activity_id is not null then watcher_kind end as watcher_kind,
      case when activity_id is not null then owner_kind end as owner_kind,
      named_kind,
      case target when 'parent' then parent_id else resource_id end as target_id,
      case target when 'parent' then parent_title else title end as target_title,
      case target when 'parent' then parent_owner_id else owner_id end as owner_id,
      case target when 'parent' then parent_ancestors || parent_id else ancestors || resource_id end as audience,
      link_path
    from placed
    -- What sets nothing off is left out: ten thousand rows would be put together for nobody.
    where named_ids is not null
      or activity_id is not null
        and (emits or auto_watch is not null or watcher_kind is not null or owner_kind is not null)
  )
  select
    array_agg(event::bellwire.rule_event), bool_or(event.emits), bool_or(event.auto_watch is not null),
    bool_or(event.watcher_kind is not null or event.owner_kind is not null or event.named_ids is not null)
  into events, is_emitted, is_watched, is_told
  from event;

  if events is not null then
    -- Assigned, because PERFORM would plan and run a query to call it.
    failed_count := bellwire.apply_rules(events, is_emitted, is_watched, is_told);
  end if;
  return cardinality(events);
end
$$;

comment on function bellwire.record_activity(bellwire.activity_draft[]) is
  'Writes drafts to activity_log, dropping what coalesces, and calls the rules.';

revoke all on function bellwire.record_activity(bellwire.activity_draft[]) from public;
