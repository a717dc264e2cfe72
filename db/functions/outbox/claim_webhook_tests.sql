-- Leases tests: that of each enabled receiver, paused or not. A test has no position: it is sent beside the queue, and once,
-- so that a receiver would see a gap where none is.
-- Called by: claim_webhooks(), as bellwire_definer, which mostly finds none.
-- Errors: none of its own.
-- Returns: the deliveries that are leased now.
create or replace function bellwire.claim_webhook_tests(worker uuid, max_count integer)
returns bigint[]
language plpgsql
set search_path = ''
as $$
declare
  claimable_ids bigint[];
  claimed_ids bigint[];
begin
  if max_count < 1 or not exists (
    select from bellwire.webhook_deliveries as delivery where delivery.is_test and delivery.state = 'pending')
  then
    return '{}';
  end if;
  -- The subscription's row is the lock, as in claim_webhooks(), and locked in a statement of its own for the same reason.
  claimable_ids := array(
    select subscription.id
    from bellwire.webhook_subscriptions as subscription
    where subscription.is_enabled
      and exists (
        select
        from bellwire.webhook_deliveries as delivery
        where delivery.subscription_id = subscription.id and delivery.is_test and delivery.state = 'pending'
          and (delivery.lease_expires_at is null or delivery.lease_expires_at <= clock_timestamp()))
    order by subscription.id
    limit max_count
    for no key update skip locked
  );
  with taken as (
    update bellwire.webhook_deliveries as delivery
    set leased_by = worker,
        lease_expires_at = clock_timestamp() + make_interval(
          secs => (select setting.value from bellwire.settings as setting where setting.name = 'webhook_lease_seconds'))
    where delivery.subscription_id = any (claimable_ids) and delivery.is_test and delivery.state = 'pending'
      and (delivery.lease_expires_at is null or delivery.lease_expires_at <= clock_timestamp())
    returning delivery.id
  )
  select coalesce(array_agg(taken.id), '{}') into claimed_ids from taken;
  return claimed_ids;
end
$$;

comment on function bellwire.claim_webhook_tests(uuid, integer) is 'Leases the tests that wait, one per receiver.';

revoke all on function bellwire.claim_webhook_tests(uuid, integer) from public;
