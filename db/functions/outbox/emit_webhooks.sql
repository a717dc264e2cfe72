-- Rule 100: writes the outbox. An event row only where an enabled subscription matches by workspace and type, with its
-- deliveries, in the transaction of the change. No writer waits for another: numbers are given later, by the sequencer,
-- which also builds the body. Of what the body needs, only the title can change until then, so only it is copied.
-- Called by: trigger _100_emit_webhooks on bellwire.activity_log, after each insert statement.
-- Errors: none; a failure lands in rule_failures.
-- Source: reference 000, section 2a.
create or replace function bellwire.emit_webhooks()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  delivery_count bigint;
  state text;
  message text;
  context text;
begin
  begin
    with events as (
      insert into bellwire.webhook_events (activity_id, type, workspace_id, title, occurred_at)
      select activity.id, activity.action, activity.workspace_id, subject.title, activity.occurred_at
      from recorded as activity
      join bellwire.action_rules as rule on rule.action = activity.action and rule.emits
      join bellwire.resources as subject on subject.id = activity.resource_id
      where exists (
        select
        from bellwire.webhook_subscriptions as subscription
        where subscription.is_enabled
          and (subscription.workspace_id is null or subscription.workspace_id = activity.workspace_id)
          and (subscription.event_types is null or activity.action = any (subscription.event_types))
      )
      order by activity.id
      returning id, type, workspace_id
    )
    insert into bellwire.webhook_deliveries (subscription_id, event_id)
    select subscription.id, event.id
    from events as event
    join bellwire.webhook_subscriptions as subscription
      on subscription.is_enabled
      and (subscription.workspace_id is null or subscription.workspace_id = event.workspace_id)
      and (subscription.event_types is null or event.type = any (subscription.event_types));

    get diagnostics delivery_count = row_count;
    if delivery_count > 0 then
      perform bellwire.wake('bellwire_webhooks');
    end if;
  exception when others then
    get stacked diagnostics state = returned_sqlstate, message = message_text, context = pg_exception_context;
    perform bellwire.fail_rule('emit_webhooks', (select array_agg(id) from recorded), state, message, context);
  end;
  return null;
end
$$;

comment on function bellwire.emit_webhooks() is 'Rule 100: activity to webhook_events and webhook_deliveries.';

revoke all on function bellwire.emit_webhooks() from public;
grant execute on function bellwire.emit_webhooks() to bellwire_owner;
