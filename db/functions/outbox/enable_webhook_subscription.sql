-- Lets a receiver be sent to again, at once: after it was disabled by an answer or the guard, or to end its pause.
-- Called by: bellwire_admin.
-- Errors: P0002 for an unknown subscription.
create or replace function bellwire.enable_webhook_subscription(id bigint)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  update bellwire.webhook_subscriptions as subscription
  set is_enabled = true, disabled_reason = null, paused_until = null, consecutive_failures = 0
  where subscription.id = enable_webhook_subscription.id;
  if not found then
    raise exception 'there is no webhook subscription %', id
      using errcode = 'P0002', hint = 'select id, url from bellwire.webhook_subscriptions';
  end if;
  perform bellwire.wake('bellwire_webhooks');
end
$$;

comment on function bellwire.enable_webhook_subscription(bigint) is 'Enables a subscription and ends its pause.';

revoke all on function bellwire.enable_webhook_subscription(bigint) from public;
grant execute on function bellwire.enable_webhook_subscription(bigint) to bellwire_admin;
