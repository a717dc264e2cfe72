-- What follows from an outcome that is already written: for the subscription (see finish_webhooks() for the table), and
-- for the deliveries of the same claim behind it, whose leases are given back.
-- Called by: finish_webhooks(), as bellwire_definer.
-- Errors: none of its own.
-- Source: reference 000, section 2b, "Outcomes"; DESIGN, "Webhook outbox" (a successful test wakes the backlog).
create or replace function bellwire.follow_webhook(
  delivery_id bigint,
  outcome text,
  worker uuid,
  result text,
  error text,
  given_back_count integer
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  of_subscription_id bigint;
  of_sequence bigint;
  of_test boolean;
begin
  select delivery.subscription_id, delivery.sequence, delivery.is_test into of_subscription_id, of_sequence, of_test
  from bellwire.webhook_deliveries as delivery
  where delivery.id = delivery_id;

  if of_test then
    -- The receiver is there again: what waits is sent at once.
    if outcome = 'delivered' then
      update bellwire.webhook_subscriptions as subscription
      set consecutive_failures = 0, paused_until = null
      where subscription.id = of_subscription_id
        -- Else it was not locked first, and this and its deletion would wait for each other.
        and (subscription.consecutive_failures > 0 or subscription.paused_until is not null);
      perform bellwire.wake('bellwire_webhooks');
    end if;
    return;
  end if;
  if outcome = 'delivered' then
    update bellwire.webhook_subscriptions as subscription
    set consecutive_failures = 0, paused_until = null
    where subscription.id = of_subscription_id
      and subscription.consecutive_failures > 0
      and (subscription.paused_until is null or subscription.paused_until <= clock_timestamp());
  elsif outcome = 'disabled' then
    perform bellwire.disable_webhook_subscription(
      of_subscription_id, case when result = 'refused' then error else 'receiver answered 410' end);
  elsif outcome = 'paused' then
    update bellwire.webhook_subscriptions as subscription
    set consecutive_failures = subscription.consecutive_failures + 1,
        paused_until = clock_timestamp() + make_interval(secs => least(
          (select value from bellwire.settings where name = 'webhook_backoff_seconds')
            * power(2, least(subscription.consecutive_failures, 30)),
          (select value from bellwire.settings where name = 'webhook_backoff_limit_seconds')))
    where subscription.id = of_subscription_id;
  end if;

  update bellwire.webhook_deliveries as rest
  set leased_by = null, lease_expires_at = null
  from (
    select behind.id
    from bellwire.webhook_deliveries as behind
    where behind.subscription_id = of_subscription_id and behind.state = 'pending' and behind.sequence > of_sequence
      and behind.leased_by = worker
    order by behind.sequence
    limit given_back_count
  ) as claimed
  where rest.id = claimed.id and rest.leased_by = worker;
end
$$;

comment on function bellwire.follow_webhook(bigint, text, uuid, text, text, integer) is
  'What an outcome means for its subscription and for what is behind it.';

revoke all on function bellwire.follow_webhook(bigint, text, uuid, text, text, integer) from public;
