-- What is waiting, and since when: for the sweep, the metrics and an operator.
-- Called by: bellwire_worker, bellwire_admin.
-- Errors: none.
create or replace function bellwire.worker_backlog()
returns table (what text, waiting bigint, oldest_at timestamptz)
language sql
stable
security definer
set search_path = ''
as $$
  select 'webhooks_unsequenced', count(*), min(event.created_at)
  from bellwire.webhook_events as event
  where event.sequence is null
  union all
  select 'webhooks_pending', count(*), min(delivery.created_at)
  from bellwire.webhook_deliveries as delivery
  join bellwire.webhook_subscriptions as subscription on subscription.id = delivery.subscription_id
  where delivery.state = 'pending' and delivery.sequence is not null and subscription.is_enabled
  union all
  select 'emails', count(*), min(outbox.created_at)
  from bellwire.email_outbox as outbox
  where outbox.state in ('pending', 'sending')
  union all
  select 'fan_out', count(*), min(queue.created_at)
  from bellwire.fan_out_queue as queue
$$;

comment on function bellwire.worker_backlog() is 'Rows waiting per outbox and the age of the oldest.';

revoke all on function bellwire.worker_backlog() from public;
grant execute on function bellwire.worker_backlog() to bellwire_worker, bellwire_admin;
