-- Rule 200: whoever creates, edits or comments starts watching. Never over a manual watch and never over a mute.
-- Called by: trigger _200_auto_watch on bellwire.activity_log, after each insert statement.
-- Errors: none; a failure lands in rule_failures.
-- Source: reference 000, section 2, "Auto-watch".
create or replace function bellwire.auto_watch()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  state text;
  message text;
  context text;
begin
  begin
    insert into bellwire.watches (resource_id, user_id, source)
    select
      case rule.target when 'parent' then subject.parent_id else subject.id end,
      activity.actor_id,
      rule.auto_watch
    from recorded as activity
    join bellwire.action_rules as rule on rule.action = activity.action and rule.auto_watch is not null
    join bellwire.resources as subject on subject.id = activity.resource_id
    where activity.actor_id is not null
      and (rule.target <> 'parent' or subject.parent_id is not null)
    order by activity.id
    on conflict (resource_id, user_id) do nothing;
  exception when others then
    get stacked diagnostics state = returned_sqlstate, message = message_text, context = pg_exception_context;
    perform bellwire.fail_rule('auto_watch', (select array_agg(id) from recorded), state, message, context);
  end;
  return null;
end
$$;

comment on function bellwire.auto_watch() is 'Rule 200: the actor starts watching what they work on.';

revoke all on function bellwire.auto_watch() from public;
grant execute on function bellwire.auto_watch() to bellwire_owner;
