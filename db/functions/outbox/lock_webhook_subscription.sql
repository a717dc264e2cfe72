-- Locks a subscription, so that nothing of it is claimed or finished meanwhile. First of all locks, everywhere.
-- Called by: the functions of administration, as bellwire_definer.
-- Errors: P0002 for an unknown subscription.
create or replace function bellwire.lock_webhook_subscription(id bigint)
returns bellwire.webhook_subscriptions
language plpgsql
set search_path = ''
as $$
declare
  subscription bellwire.webhook_subscriptions;
begin
  select known.* into subscription
  from bellwire.webhook_subscriptions as known
  where known.id = lock_webhook_subscription.id
  for no key update;
  if not found then
    raise exception 'there is no webhook subscription %', id
      using errcode = 'P0002', hint = 'select id, url from bellwire.webhook_subscriptions';
  end if;
  return subscription;
end
$$;

comment on function bellwire.lock_webhook_subscription(bigint) is 'Locks a webhook subscription and returns it.';

revoke all on function bellwire.lock_webhook_subscription(bigint) from public;
