-- Rule 300: tells the people. Only collects; tell_or_queue() decides where it is done, and which tell nobody.
-- Called by: trigger _300_fan_out on bellwire.activity_log, after each insert statement.
-- Errors: none; a failure lands in rule_failures.
-- Source: reference 000, section 2, "Watcher fan-out".
create or replace function bellwire.fan_out()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  events bellwire.fan_out_event[];
  state text;
  message text;
  context text;
begin
  begin
    select array_agg(
      row(
        activity.id, activity.action, activity.actor_id, activity.workspace_id, activity.scope_id,
        activity.resource_id, activity.metadata, activity.named_ids, false
      )::bellwire.fan_out_event
      order by activity.id
    )
    into events
    from recorded as activity;

    if events is not null then
      perform bellwire.tell_or_queue(events);
    end if;
  exception when others then
    get stacked diagnostics state = returned_sqlstate, message = message_text, context = pg_exception_context;
    perform bellwire.fail_rule('fan_out', (select array_agg(id) from recorded), state, message, context);
  end;
  return null;
end
$$;

comment on function bellwire.fan_out() is 'Rule 300: activity to notifications.';

revoke all on function bellwire.fan_out() from public;
grant execute on function bellwire.fan_out() to bellwire_owner;
