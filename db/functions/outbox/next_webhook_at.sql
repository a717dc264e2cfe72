-- When there will be something to send again: the end of the earliest pause of a subscription with a backlog.
-- Called by: bellwire_worker, when nothing is left to claim.
-- Errors: none.
-- Returns: null when no paused subscription has a backlog.
create or replace function bellwire.next_webhook_at()
returns timestamptz
language sql
stable
security definer
set search_path = ''
as $$
  select min(subscription.paused_until)
  from bellwire.webhook_subscriptions as subscription
  where subscription.is_enabled
    and subscription.paused_until > clock_timestamp()
    and exists (
      select
      from bellwire.webhook_deliveries as delivery
      where delivery.subscription_id = subscription.id
        and delivery.state = 'pending'
        and delivery.sequence is not null
    )
$$;

comment on function bellwire.next_webhook_at() is 'The end of the earliest pause with a backlog behind it.';

revoke all on function bellwire.next_webhook_at() from public;
grant execute on function bellwire.next_webhook_at() to bellwire_worker;
