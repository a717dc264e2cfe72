-- Leases runs: of every subscription that is enabled, not paused and not in flight, its oldest pending deliveries, one
-- after the other in their order. What is behind the run is not looked at, and the worker sends the second only when the
-- first is written down, which is the ordering guarantee. A delivery gets its position at its first claim. What is older
-- than 72 hours is dead-lettered here, by the database clock, and the next one is taken. With more subscriptions
-- than places, the one whose last claim is longest ago comes first. A test comes beside the run.
-- Called by: bellwire_worker, before it sends.
-- Errors: none of its own.
-- Returns: at most max_count runs and tests, a run with at most max_run deliveries in the order in which to send them. A
-- sealed secret comes with its seal_id and a blank before it.
-- Source: reference 000, section 2b.
create or replace function bellwire.claim_webhooks(worker uuid, max_count integer, max_run integer default 1)
returns table (
  delivery_id bigint,
  subscription_id bigint,
  url text,
  secrets text[],
  event_id uuid,
  event_type text,
  delivery_position bigint,
  body bytea,
  attempts integer,
  is_test boolean
)
language plpgsql
security definer
set search_path = ''
set plan_cache_mode = 'force_generic_plan' -- planning anew for each array takes longer than the work
set enable_seqscan = off -- a kept plan may date from when a table was nearly empty
set jit = off
as $$
#variable_conflict use_column
declare
  lease constant interval := make_interval(
    secs => (select value from bellwire.settings where name = 'webhook_lease_seconds'));
  expiry_hours constant integer := (select value from bellwire.settings where name = 'webhook_expiry_hours');
  expiry constant interval := make_interval(hours => expiry_hours);
  max_expired_rounds constant integer := 1000;
  claimable_ids bigint[];
  receiver_ids bigint[] := '{}';
  claimed_ids bigint[] := '{}';
  test_ids bigint[];
  expired_count bigint;
begin
  -- First, as there are few: behind the runs they would get what places these leave.
  test_ids := bellwire.claim_webhook_tests(worker, max_count);
  for round in 1 .. max_expired_rounds loop
    -- The subscription's row is the lock: two workers never hold deliveries of one receiver. Locked in a statement of
    -- its own, so that the next one sees what the previous holder of the lock has committed.
    claimable_ids := array(
      select subscription.id
      from bellwire.webhook_subscriptions as subscription
      where subscription.is_enabled
        and (subscription.paused_until is null or subscription.paused_until <= clock_timestamp())
        and subscription.id <> all (receiver_ids)
        and exists (
          select
          from (
            select delivery.lease_expires_at
            from bellwire.webhook_deliveries as delivery
            where delivery.subscription_id = subscription.id
              and delivery.state = 'pending'
              and delivery.sequence is not null
            order by delivery.sequence
            limit 1
          ) as head
          where head.lease_expires_at is null or head.lease_expires_at <= clock_timestamp()
        )
        -- Not only the head: an older delivery that is pending again comes before a run that is on its way, and must wait
        -- for its end.
        and not exists (
          select
          from bellwire.webhook_deliveries as claimed
          where claimed.id = subscription.last_claimed_id and claimed.lease_expires_at > clock_timestamp()
        )
      -- In turn, so that those with an endless backlog leave no place to none.
      order by subscription.claimed_at nulls first, subscription.id
      limit max_count - cardinality(test_ids) - cardinality(receiver_ids)
      for no key update skip locked
    );
    exit when cardinality(claimable_ids) = 0;

    with runs as materialized (
      select
        delivery.id,
        subscription.id as subscription_id,
        delivery.sequence,
        delivery.position is null as is_new,
        -- By the row: joined, a plan that guesses the length of a run reads all events.
        coalesce(
          delivery.replayed_at,
          (select event.occurred_at from bellwire.webhook_events as event where event.id = delivery.event_id)
        ) < clock_timestamp() - expiry as is_expired
      from bellwire.webhook_subscriptions as subscription
      left join bellwire.webhook_deliveries as claimed on claimed.id = subscription.last_claimed_id
      cross join lateral (
        select delivery.id, delivery.event_id, delivery.sequence, delivery.position, delivery.replayed_at
        from bellwire.webhook_deliveries as delivery
        where delivery.subscription_id = subscription.id
          and delivery.state = 'pending'
          and delivery.sequence is not null
        order by delivery.sequence
        limit max_run
      ) as delivery
      where subscription.id = any (claimable_ids)
        and subscription.is_enabled
        and (subscription.paused_until is null or subscription.paused_until <= clock_timestamp())
        and (claimed.lease_expires_at is null or claimed.lease_expires_at <= clock_timestamp())
    ),
    numbers as materialized (
      select
        runs.*,
        count(*) filter (where runs.is_new) over (partition by runs.subscription_id order by runs.sequence) as number
      from runs
    ),
    numbered as (
      update bellwire.webhook_subscriptions as subscription
      set last_position = subscription.last_position + of_run.new_count,
          last_claimed_id = of_run.last_id,
          claimed_at = clock_timestamp()
      from (
        select
          numbers.subscription_id,
          count(*) filter (where numbers.is_new) as new_count,
          (array_agg(numbers.id order by numbers.sequence desc) filter (where not numbers.is_expired))[1] as last_id
        from numbers
        group by numbers.subscription_id
      ) as of_run
      where subscription.id = of_run.subscription_id
      returning subscription.id, subscription.last_position - of_run.new_count as position_before
    ),
    taken as (
      update bellwire.webhook_deliveries as delivery
      set position = coalesce(delivery.position, numbered.position_before + numbers.number),
          state = case when numbers.is_expired then 'dead' else 'pending' end,
          last_error = case when numbers.is_expired then 'expired after ' || expiry_hours || 'h' else delivery.last_error end,
          leased_by = case when numbers.is_expired then null else worker end,
          lease_expires_at = case when numbers.is_expired then null else clock_timestamp() + lease end
      from numbers
      join numbered on numbered.id = numbers.subscription_id
      where delivery.id = numbers.id
      returning delivery.id, delivery.subscription_id, numbers.is_expired
    )
    select
      claimed_ids || coalesce(array_agg(taken.id) filter (where not taken.is_expired), '{}'),
      receiver_ids || coalesce(array_agg(distinct taken.subscription_id) filter (where not taken.is_expired), '{}'),
      count(*) filter (where taken.is_expired)
    into claimed_ids, receiver_ids, expired_count
    from taken;
    exit when expired_count = 0;
  end loop;
  if cardinality(test_ids) > 0 then
    receiver_ids := receiver_ids || array(
      select test.subscription_id from bellwire.webhook_deliveries as test where test.id = any (test_ids));
  end if;

  return query
    with receivers as materialized (
      select
        subscription.id,
        subscription.url,
        array(
          -- A sealed one with what it is bound to before it.
          select case when secret.secret like 'sealed.%' then secret.seal_id || ' ' else '' end || secret.secret
          from bellwire.webhook_secrets as secret
          where secret.subscription_id = subscription.id
            and (secret.expires_at is null or secret.expires_at > clock_timestamp())
          order by secret.id desc
        ) as secrets
      from bellwire.webhook_subscriptions as subscription
      where subscription.id = any (receiver_ids)
    )
    select
      delivery.id,
      delivery.subscription_id,
      receiver.url,
      receiver.secrets,
      event.event_id,
      event.type,
      delivery.position,
      event.body,
      delivery.attempts,
      delivery.is_test
    from bellwire.webhook_deliveries as delivery
    join receivers as receiver on receiver.id = delivery.subscription_id
    join bellwire.webhook_events as event on event.id = delivery.event_id
    where delivery.id = any (claimed_ids || test_ids)
    order by delivery.subscription_id, delivery.sequence;
end
$$;

comment on function bellwire.claim_webhooks(uuid, integer, integer) is
  'Leases the oldest pending deliveries of each subscription that may be sent to.';

revoke all on function bellwire.claim_webhooks(uuid, integer, integer) from public;
grant execute on function bellwire.claim_webhooks(uuid, integer, integer) to bellwire_worker;
