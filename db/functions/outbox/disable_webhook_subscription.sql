-- Stops sending to a receiver. Nothing new is written for it; what is pending stays for the day it is enabled again.
-- Called by: bellwire_admin.
-- Errors: P0002 for an unknown subscription.
create or replace function bellwire.disable_webhook_subscription(id bigint, reason text default 'by an administrator')
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  update bellwire.webhook_subscriptions as subscription
  set is_enabled = false, disabled_reason = left(reason, 500)
  where subscription.id = disable_webhook_subscription.id;
  if not found then
    raise exception 'there is no webhook subscription %', id
      using errcode = 'P0002', hint = 'select id, url from bellwire.webhook_subscriptions';
  end if;
end
$$;

comment on function bellwire.disable_webhook_subscription(bigint, text) is 'Disables a subscription, with a reason.';

revoke all on function bellwire.disable_webhook_subscription(bigint, text) from public;
grant execute on function bellwire.disable_webhook_subscription(bigint, text) to bellwire_admin;
