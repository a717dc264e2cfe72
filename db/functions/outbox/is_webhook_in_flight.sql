-- Whether a delivery of the queue is being sent to a receiver at this moment, or may be: tests do not count.
-- Called by: skip_webhook_delivery(), as bellwire_definer, with the subscription locked.
-- Errors: none.
create or replace function bellwire.is_webhook_in_flight(subscription_id bigint)
returns boolean
language plpgsql
set search_path = ''
as $$
begin
  return exists (
    select
    from bellwire.webhook_deliveries as delivery
    where delivery.subscription_id = is_webhook_in_flight.subscription_id
      and delivery.state = 'pending'
      and delivery.sequence is not null
      and delivery.lease_expires_at > clock_timestamp());
end
$$;

comment on function bellwire.is_webhook_in_flight(bigint) is 'Whether something of the queue is being sent to a receiver.';

revoke all on function bellwire.is_webhook_in_flight(bigint) from public;
