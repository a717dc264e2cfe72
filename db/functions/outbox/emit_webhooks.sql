-- Rule 100: writes the outbox. An event row only where an enabled subscription matches by workspace and type, with its
-- deliveries, in the transaction of the change. No writer waits for another: numbers are given later, by the sequencer,
-- which also builds the body. Of what the body needs, only the title can change until then, so only it is copied.
-- Called by: apply_rules(), as bellwire_definer.
-- Errors: none of its own.
-- Returns: how many deliveries it wrote.
-- Source: reference 000, section 2a.
create or replace function bellwire.emit_webhooks(events bellwire.rule_event[])
returns bigint
language plpgsql
set search_path = ''
as $$
declare
  delivery_count bigint;
  is_woken boolean;
begin
  with matched as materialized (
    select
      nextval('bellwire.webhook_events_id_seq') as id, event.activity_id, event.action, event.workspace_id, event.title,
      wanted.subscription_ids
    from unnest(events) as event
    cross join lateral (
      select array_agg(subscription.id) as subscription_ids
      from bellwire.webhook_subscriptions as subscription
      where subscription.is_enabled
        and (subscription.workspace_id is null or subscription.workspace_id = event.workspace_id)
        and (subscription.event_types is null or event.action = any (subscription.event_types))
    ) as wanted
    where event.emits and wanted.subscription_ids is not null
  ),
  written as (
    insert into bellwire.webhook_events (id, activity_id, type, workspace_id, title)
    overriding system value
    select id, activity_id, action, workspace_id, title from matched
  )
  insert into bellwire.webhook_deliveries (subscription_id, event_id)
  select unnest(matched.subscription_ids), matched.id from matched;

  get diagnostics delivery_count = row_count;
  if delivery_count > 0 then
    is_woken := bellwire.wake('bellwire_webhooks');
  end if;
  return delivery_count;
end
$$;

comment on function bellwire.emit_webhooks(bellwire.rule_event[]) is
  'Rule 100: events to webhook_events and webhook_deliveries.';

revoke all on function bellwire.emit_webhooks(bellwire.rule_event[]) from public;
