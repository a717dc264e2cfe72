-- Renews a lease after the address check, so that the send starts with its full window.
-- Called by: bellwire_worker, just before it sends.
-- Errors: none.
-- Returns: false when the lease is lost or the subscription was disabled: send nothing.
create or replace function bellwire.renew_webhook_lease(delivery_id bigint, worker uuid)
returns boolean
language plpgsql
security definer
set search_path = ''
as $$
begin
  update bellwire.webhook_deliveries as delivery
  set lease_expires_at = clock_timestamp() + make_interval(
    secs => (select value from bellwire.settings where name = 'webhook_lease_seconds'))
  from bellwire.webhook_subscriptions as subscription
  where delivery.id = delivery_id
    and delivery.leased_by = worker
    and delivery.lease_expires_at > clock_timestamp()
    and delivery.state = 'pending'
    and subscription.id = delivery.subscription_id
    and subscription.is_enabled;
  return found;
end
$$;

comment on function bellwire.renew_webhook_lease(bigint, uuid) is 'Extends a live lease; false when it is lost.';

revoke all on function bellwire.renew_webhook_lease(bigint, uuid) from public;
grant execute on function bellwire.renew_webhook_lease(bigint, uuid) to bellwire_worker;
