-- Writes down what became of one attempt; the table of outcomes is here and nowhere else:
--   answered 2xx   delivered; the failures of the subscription are forgotten unless a pause is live
--   answered 410   the subscription is disabled, the delivery stays pending
--   answered 422   dead
--   refused        by the address guard: the subscription is disabled with its sentence, the delivery stays pending
--   anything else  one attempt more, and the subscription pauses 10, 20, 40 ... at most 3600 seconds
-- A worker whose lease was taken over changes nothing. What becomes of a test is in finish_webhook_test().
-- Called by: bellwire_worker, after each send.
-- Errors: 22023 for an unknown result.
-- Returns: delivered, dead, paused, disabled, or stale.
-- Source: reference 000, section 2b, "Outcomes".
create or replace function bellwire.finish_webhook(
  delivery_id bigint,
  worker uuid,
  result text,
  http_status integer,
  error text,
  duration_ms integer
)
returns text
language plpgsql
security definer
set search_path = ''
as $$
declare
  outcome text;
  of_subscription_id bigint;
  is_of_test boolean;
begin
  if result is null or result not in ('answered', 'failed', 'refused') then
    raise exception 'a result is answered, failed or refused, not %', result
      using errcode = '22023', hint = 'This function is called by the worker.';
  end if;
  -- The subscription is locked first, as claim_webhooks() and the administration do: else they would wait for each other.
  select delivery.is_test into is_of_test
  from bellwire.webhook_deliveries as delivery
  join bellwire.webhook_subscriptions as subscription on subscription.id = delivery.subscription_id
  where delivery.id = finish_webhook.delivery_id
  for no key update of subscription;
  if is_of_test then
    return bellwire.finish_webhook_test(delivery_id, worker, result, http_status, error, duration_ms);
  end if;
  outcome := case
    when result = 'refused' then 'disabled'
    when result = 'answered' and http_status between 200 and 299 then 'delivered'
    when result = 'answered' and http_status = 410 then 'disabled'
    when result = 'answered' and http_status = 422 then 'dead'
    else 'paused'
  end;

  update bellwire.webhook_deliveries as delivery
  set state = case when outcome in ('delivered', 'dead') then outcome else 'pending' end,
      attempts = delivery.attempts + case when outcome = 'paused' then 1 else 0 end,
      last_status = http_status,
      last_error = left(coalesce(error, case
        when outcome = 'delivered' then null
        when http_status between 300 and 399 then 'HTTP ' || http_status || ' (redirects are not followed)'
        else 'HTTP ' || http_status
      end), 255),
      last_duration_ms = duration_ms,
      last_attempt_at = clock_timestamp(),
      delivered_at = case when outcome = 'delivered' then clock_timestamp() end,
      leased_by = null,
      lease_expires_at = null
  where delivery.id = delivery_id and delivery.leased_by = worker and delivery.state = 'pending'
  returning delivery.subscription_id into of_subscription_id;
  if not found then
    return 'stale';
  end if;

  if outcome = 'delivered' then
    update bellwire.webhook_subscriptions as subscription
    set consecutive_failures = 0, paused_until = null
    where subscription.id = of_subscription_id
      and subscription.consecutive_failures > 0
      and (subscription.paused_until is null or subscription.paused_until <= clock_timestamp());
  elsif outcome = 'disabled' then
    update bellwire.webhook_subscriptions as subscription
    set is_enabled = false,
        disabled_reason = left(case when result = 'refused' then error else 'receiver answered 410' end, 500)
    where subscription.id = of_subscription_id;
  elsif outcome = 'paused' then
    update bellwire.webhook_subscriptions as subscription
    set consecutive_failures = subscription.consecutive_failures + 1,
        paused_until = clock_timestamp() + make_interval(secs => least(
          (select value from bellwire.settings where name = 'webhook_backoff_seconds')
            * power(2, least(subscription.consecutive_failures, 30)),
          (select value from bellwire.settings where name = 'webhook_backoff_limit_seconds')))
    where subscription.id = of_subscription_id;
  end if;
  return outcome;
end
$$;

comment on function bellwire.finish_webhook(bigint, uuid, text, integer, text, integer) is
  'Records the outcome of one delivery attempt and what follows for its subscription.';

revoke all on function bellwire.finish_webhook(bigint, uuid, text, integer, text, integer) from public;
grant execute on function bellwire.finish_webhook(bigint, uuid, text, integer, text, integer) to bellwire_worker;
