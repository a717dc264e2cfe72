-- What becomes of a test: delivered, or dead with the reason. It is not tried again and disables nothing; a success forgets
-- the failures of the receiver and ends its pause, so that what waits is sent at once.
-- Called by: finish_webhook(), as bellwire_definer, with the subscription locked.
-- Errors: none.
-- Returns: delivered, dead, or stale.
-- Source: DESIGN, "Webhook outbox" (a successful test wakes the backlog).
create or replace function bellwire.finish_webhook_test(
  delivery_id bigint,
  worker uuid,
  result text,
  http_status integer,
  error text,
  duration_ms integer
)
returns text
language plpgsql
set search_path = ''
as $$
declare
  is_success constant boolean := coalesce(result = 'answered' and http_status between 200 and 299, false);
  of_subscription_id bigint;
begin
  update bellwire.webhook_deliveries as delivery
  set state = case when is_success then 'delivered' else 'dead' end,
      attempts = delivery.attempts + case when is_success then 0 else 1 end,
      last_status = http_status,
      last_error = case when is_success then null else left(coalesce(error, 'HTTP ' || http_status), 255) end,
      last_duration_ms = duration_ms,
      last_attempt_at = clock_timestamp(),
      delivered_at = case when is_success then clock_timestamp() end,
      leased_by = null,
      lease_expires_at = null
  where delivery.id = delivery_id and delivery.leased_by = worker and delivery.state = 'pending'
  returning delivery.subscription_id into of_subscription_id;
  if not found then
    return 'stale';
  end if;
  if not is_success then
    return 'dead';
  end if;
  update bellwire.webhook_subscriptions as subscription
  set consecutive_failures = 0, paused_until = null
  where subscription.id = of_subscription_id;
  perform bellwire.wake('bellwire_webhooks');
  return 'delivered';
end
$$;

comment on function bellwire.finish_webhook_test(bigint, uuid, text, integer, text, integer) is 'Records the outcome of a test.';

revoke all on function bellwire.finish_webhook_test(bigint, uuid, text, integer, text, integer) from public;
