-- Writes down what became of attempts, many at once; the table of outcomes is here, what follows from it in
-- follow_webhook():
--   answered 2xx   delivered; the failures of the subscription are forgotten unless a pause is live
--   answered 410   the subscription is disabled, the delivery stays pending
--   answered 422   dead
--   refused        by the address guard: the subscription is disabled with its sentence, the delivery stays pending
--   anything else  one attempt more, and the subscription pauses 10, 20, 40 ... at most 3600 seconds
-- Where address or secret changed since the claim, what the old ones brought disables nothing: it is an attempt that failed,
-- and the run ends.
-- A test is delivered or dead, whatever was answered: it is sent once, and disables nothing.
-- A worker whose lease was taken over changes nothing. rest_counts says how many deliveries of the same claim are behind
-- each: unless the subscription goes on, their leases are given back as well.
-- Rejected: all in one statement, which gets ready for what is rare (75 µs of processor for one attempt, against 56).
-- Called by: bellwire_worker, after its sends.
-- Errors: 22023 for an unknown result; 55P03 where somebody holds one of the subscriptions: then write each by itself.
-- Returns: delivered, dead, paused or disabled, and whether the next delivery of the claim may be sent; no row for an
-- attempt that was stale.
-- Source: reference 000, section 2b, "Outcomes".
create or replace function bellwire.finish_webhooks(
  delivery_ids bigint[],
  workers uuid[],
  results text[],
  http_statuses integer[],
  errors text[],
  durations_ms integer[],
  rest_counts integer[],
  is_stopping boolean default false
)
returns table (delivery_id bigint, outcome text, goes_on boolean)
language plpgsql
security definer
set search_path = ''
set plan_cache_mode = 'force_generic_plan' -- planning anew for each array takes longer than the work
set enable_seqscan = off -- a kept plan may date from when a table was nearly empty
set jit = off
set lock_timeout = '2s' -- one receiver that somebody holds locked must not keep the outcomes of the others
as $$
#variable_conflict use_column
declare
  written_ids bigint[];
  outcomes text[];
  goings_on boolean[];
  has_consequences boolean;
begin
  if not results <@ array['answered', 'failed', 'refused'] then
    raise exception 'a result is answered, failed or refused, not %', array_to_string(results, ', ', 'null')
      using errcode = '22023', hint = 'This function is called by the worker.';
  end if;
  -- The subscription is locked first, as by the administration: else its deletion and this would wait for each other. Only
  -- where it will be written, which is rare.
  perform
  from bellwire.webhook_subscriptions as subscription
  where subscription.id in (
      select delivery.subscription_id from bellwire.webhook_deliveries as delivery where delivery.id = any (delivery_ids))
    and (subscription.consecutive_failures > 0
      or subscription.paused_until is not null
      or subscription.changed_at >= subscription.claimed_at
      or not subscription.is_enabled
      or is_stopping
      or exists (
        select
        from unnest(results, http_statuses) as given(result, http_status)
        where (given.result = 'answered' and given.http_status between 200 and 299) is not true))
  order by subscription.id
  for no key update;
  with finished as (
    select
      given.*,
      case
        when given.result = 'refused' then 'disabled'
        when given.result = 'answered' and given.http_status between 200 and 299 then 'delivered'
        when given.result = 'answered' and given.http_status = 410 then 'disabled'
        when given.result = 'answered' and given.http_status = 422 then 'dead'
        else 'paused'
      end as outcome
    from unnest(delivery_ids, workers, results, http_statuses, errors, durations_ms)
      as given(delivery_id, worker, result, http_status, error, duration_ms)
  ),
  written as (
    update bellwire.webhook_deliveries as delivery
    set state = case
          when finished.outcome in ('delivered', 'dead') then finished.outcome
          when delivery.is_test then 'dead'
          else 'pending'
        end,
        attempts = delivery.attempts + case when meant.outcome = 'paused' then 1 else 0 end,
        last_status = finished.http_status,
        last_error = left(coalesce(finished.error, case
          when finished.outcome = 'delivered' then null
          when finished.http_status between 300 and 399
            then 'HTTP ' || finished.http_status || ' (redirects are not followed)'
          else 'HTTP ' || finished.http_status
        end), 255),
        last_duration_ms = finished.duration_ms,
        last_attempt_at = clock_timestamp(),
        delivered_at = case when finished.outcome = 'delivered' then clock_timestamp() end,
        leased_by = null,
        lease_expires_at = null
    from finished
    cross join bellwire.webhook_subscriptions as subscription
    cross join lateral (
      select case
        when finished.outcome = 'disabled' and subscription.changed_at >= subscription.claimed_at then 'paused'
        else finished.outcome
      end as outcome
    ) as meant
    where delivery.id = finished.delivery_id
      and delivery.leased_by = finished.worker
      and delivery.state = 'pending'
      and subscription.id = delivery.subscription_id
    returning
      delivery.id,
      case when delivery.is_test and meant.outcome <> 'delivered' then 'dead' else meant.outcome end as outcome,
      meant.outcome in ('delivered', 'dead')
        and not is_stopping
        and subscription.is_enabled
        and (subscription.changed_at >= subscription.claimed_at) is not true
        and (subscription.paused_until is null or subscription.paused_until <= clock_timestamp()) as goes_on,
      finished.outcome <> 'delivered' or subscription.consecutive_failures > 0 or delivery.is_test as has_consequences
  )
  select
    array_agg(written.id),
    array_agg(written.outcome),
    array_agg(written.goes_on),
    bool_or(written.has_consequences or not written.goes_on)
  into written_ids, outcomes, goings_on, has_consequences
  from written;

  if has_consequences then
    perform bellwire.follow_webhook(
      written.delivery_id, written.outcome, given.worker, given.result, given.error,
      case when written.goes_on then 0 else given.rest_count end)
    from unnest(written_ids, outcomes, goings_on) as written(delivery_id, outcome, goes_on)
    join unnest(delivery_ids, workers, results, errors, rest_counts)
      as given(delivery_id, worker, result, error, rest_count)
      on given.delivery_id = written.delivery_id;
  end if;
  for index in 1 .. coalesce(cardinality(written_ids), 0) loop
    delivery_id := written_ids[index];
    outcome := outcomes[index];
    goes_on := goings_on[index];
    return next;
  end loop;
end
$$;

comment on function bellwire.finish_webhooks(
  bigint[], uuid[], text[], integer[], text[], integer[], integer[], boolean) is
  'Records the outcomes of delivery attempts and what follows for their subscriptions.';

revoke all on function bellwire.finish_webhooks(
  bigint[], uuid[], text[], integer[], text[], integer[], integer[], boolean) from public;
grant execute on function bellwire.finish_webhooks(
  bigint[], uuid[], text[], integer[], text[], integer[], integer[], boolean) to bellwire_worker;
