-- Lets a receiver be sent to again, at once: after it was disabled by an answer or the guard, or to end its pause.
-- Called by: bellwire_admin, api.enable_webhook().
-- Errors: P0002 for an unknown subscription.
create or replace function bellwire.enable_webhook_subscription(id bigint)
returns void
language plpgsql
security definer
set search_path = ''
as $$
declare
  before bellwire.webhook_subscriptions;
begin
  before := bellwire.lock_webhook_subscription(id);
  update bellwire.webhook_subscriptions as subscription
  set is_enabled = true, disabled_reason = null, paused_until = null, consecutive_failures = 0
  where subscription.id = before.id;
  perform bellwire.note_webhook_change(before, 'enabled', jsonb_build_object(
    'previous_reason', before.disabled_reason, 'previous_failures', before.consecutive_failures));
  perform bellwire.wake('bellwire_webhooks');
end
$$;

comment on function bellwire.enable_webhook_subscription(bigint) is 'Enables a subscription and ends its pause.';

revoke all on function bellwire.enable_webhook_subscription(bigint) from public;
grant execute on function bellwire.enable_webhook_subscription(bigint) to bellwire_admin;
