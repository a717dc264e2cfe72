-- A delivery that becomes the head while another one of its receiver is in flight waits as long as that one may take: two
-- at once would arrive in any order. It waits under a lease of nobody.
-- Called by: redeliver_webhook(), replay_webhooks(), skip_webhook_delivery(), as bellwire_definer, with the subscription locked.
-- Errors: none.
-- Returns: null where nothing is in flight.
create or replace function bellwire.webhook_hold(subscription_id bigint)
returns timestamptz
language plpgsql
set search_path = ''
as $$
begin
  if exists (
    select
    from bellwire.webhook_deliveries as delivery
    where delivery.subscription_id = webhook_hold.subscription_id
      and delivery.state = 'pending'
      and delivery.sequence is not null
      and delivery.leased_by is not null
      and delivery.lease_expires_at > clock_timestamp())
  then
    -- A full lease from now, because that one may still be renewed.
    return clock_timestamp() + make_interval(
      secs => (select value from bellwire.settings where name = 'webhook_lease_seconds'));
  end if;
  return null;
end
$$;

comment on function bellwire.webhook_hold(bigint) is 'Until when a new head has to wait for what is in flight.';

revoke all on function bellwire.webhook_hold(bigint) from public;
