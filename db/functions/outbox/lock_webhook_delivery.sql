-- Locks a delivery with its subscription, in the order in which everything does.
-- Called by: skip_webhook_delivery(), redeliver_webhook(), as bellwire_definer.
-- Errors: P0002 for an unknown delivery.
create or replace function bellwire.lock_webhook_delivery(id bigint)
returns bellwire.webhook_deliveries
language plpgsql
set search_path = ''
as $$
declare
  delivery bellwire.webhook_deliveries;
begin
  perform
  from bellwire.webhook_subscriptions as subscription
  where subscription.id = (
    select known.subscription_id from bellwire.webhook_deliveries as known where known.id = lock_webhook_delivery.id)
  for no key update;
  select known.* into delivery
  from bellwire.webhook_deliveries as known
  where known.id = lock_webhook_delivery.id
  for no key update;
  if not found then
    raise exception 'there is no webhook delivery %', id
      using errcode = 'P0002', hint = 'select id, state from bellwire.webhook_deliveries';
  end if;
  return delivery;
end
$$;

comment on function bellwire.lock_webhook_delivery(bigint) is 'Locks a webhook delivery and its subscription.';

revoke all on function bellwire.lock_webhook_delivery(bigint) from public;
