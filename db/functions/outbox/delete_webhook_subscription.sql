-- Removes a receiver with its secrets and deliveries.
-- Called by: bellwire_admin.
-- Errors: P0002 for an unknown subscription.
create or replace function bellwire.delete_webhook_subscription(id bigint)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  delete from bellwire.webhook_subscriptions as subscription where subscription.id = delete_webhook_subscription.id;
  if not found then
    raise exception 'there is no webhook subscription %', id
      using errcode = 'P0002', hint = 'select id, url from bellwire.webhook_subscriptions';
  end if;
end
$$;

comment on function bellwire.delete_webhook_subscription(bigint) is 'Deletes a subscription and all it has.';

revoke all on function bellwire.delete_webhook_subscription(bigint) from public;
grant execute on function bellwire.delete_webhook_subscription(bigint) to bellwire_admin;
