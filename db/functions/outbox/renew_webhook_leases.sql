-- Renews the leases of a claim that took its time, so that the next send starts with its full window.
-- Called by: bellwire_worker, before a send, when the database was last heard of longer ago than a moment.
-- Errors: none.
-- Returns: false when one of them is lost or the subscription was disabled: send nothing.
-- Source: reference 000, section 2b ("after the DNS check and before the send it is renewed").
create or replace function bellwire.renew_webhook_leases(delivery_ids bigint[], worker uuid)
returns boolean
language plpgsql
security definer
set search_path = ''
as $$
declare
  renewed_count bigint;
begin
  update bellwire.webhook_deliveries as delivery
  set lease_expires_at = clock_timestamp() + make_interval(
    secs => (select value from bellwire.settings where name = 'webhook_lease_seconds'))
  from bellwire.webhook_subscriptions as subscription
  where delivery.id = any (delivery_ids)
    and delivery.leased_by = worker
    and delivery.lease_expires_at > clock_timestamp()
    and delivery.state = 'pending'
    and subscription.id = delivery.subscription_id
    and subscription.is_enabled;
  get diagnostics renewed_count = row_count;
  return renewed_count > 0 and renewed_count = cardinality(delivery_ids);
end
$$;

comment on function bellwire.renew_webhook_leases(bigint[], uuid) is
  'Extends live leases of one claim; false when one is lost.';

revoke all on function bellwire.renew_webhook_leases(bigint[], uuid) from public;
grant execute on function bellwire.renew_webhook_leases(bigint[], uuid) to bellwire_worker;
