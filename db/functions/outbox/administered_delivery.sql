-- The same for one delivery: that of a subscription the caller administers.
-- Called by: api functions, as bellwire_definer.
-- Errors: P0002.
-- Returns: its subscription.
create or replace function bellwire.administered_delivery(id bigint)
returns bigint
language plpgsql
stable
set search_path = ''
as $$
declare
  of_subscription_id bigint;
begin
  select subscription.id into of_subscription_id
  from bellwire.webhook_deliveries as delivery
  join bellwire.webhook_subscriptions as subscription on subscription.id = delivery.subscription_id
  where delivery.id = administered_delivery.id and bellwire.administers_webhooks(subscription.workspace_id);
  if of_subscription_id is null then
    raise exception 'there is no such webhook delivery'
      using errcode = 'P0002', hint = 'It is past its retention, or of a subscription that is not yours to administer.';
  end if;
  return of_subscription_id;
end
$$;

comment on function bellwire.administered_delivery(bigint) is
  'The subscription of a delivery, where the caller may administer it.';

revoke all on function bellwire.administered_delivery(bigint) from public;
