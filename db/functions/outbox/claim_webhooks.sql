-- Leases the heads: of every subscription that is enabled, not paused and not in flight, its oldest pending delivery.
-- Nothing behind a head is looked at, which is the ordering guarantee. A delivery gets its position at its first claim.
-- A head older than 72 hours is dead-lettered here, by the database clock, and the next one is taken.
-- Called by: bellwire_worker, before it sends.
-- Errors: none of its own.
-- Source: reference 000, section 2b.
create or replace function bellwire.claim_webhooks(worker uuid, max_count integer)
returns table (
  delivery_id bigint,
  subscription_id bigint,
  url text,
  secrets text[],
  event_id uuid,
  event_type text,
  delivery_position bigint,
  body bytea,
  attempts integer
)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  lease constant interval := make_interval(
    secs => (select value from bellwire.settings where name = 'webhook_lease_seconds'));
  expiry_hours constant integer := (select value from bellwire.settings where name = 'webhook_expiry_hours');
  expiry constant interval := make_interval(hours => expiry_hours);
  max_expired_rounds constant integer := 1000;
  claimable_ids bigint[];
  claimed_ids bigint[] := '{}';
  expired_count bigint;
begin
  for round in 1 .. max_expired_rounds loop
    -- The subscription's row is the lock: two workers never hold two deliveries of one receiver. Locked in a statement of
    -- its own, so that the next one sees what the previous holder of the lock has committed.
    claimable_ids := array(
      select subscription.id
      from bellwire.webhook_subscriptions as subscription
      where subscription.is_enabled
        and (subscription.paused_until is null or subscription.paused_until <= clock_timestamp())
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
      order by subscription.id
      limit max_count - cardinality(claimed_ids)
      for no key update skip locked
    );
    exit when cardinality(claimable_ids) = 0;

    with heads as materialized (
      select
        head.id,
        subscription.id as subscription_id,
        head.position,
        coalesce(head.replayed_at, event.occurred_at) < clock_timestamp() - expiry as is_expired
      from bellwire.webhook_subscriptions as subscription
      cross join lateral (
        select delivery.id, delivery.event_id, delivery.position, delivery.lease_expires_at, delivery.replayed_at
        from bellwire.webhook_deliveries as delivery
        where delivery.subscription_id = subscription.id
          and delivery.state = 'pending'
          and delivery.sequence is not null
        order by delivery.sequence
        limit 1
      ) as head
      join bellwire.webhook_events as event on event.id = head.event_id
      where subscription.id = any (claimable_ids)
        and subscription.is_enabled
        and (subscription.paused_until is null or subscription.paused_until <= clock_timestamp())
        and (head.lease_expires_at is null or head.lease_expires_at <= clock_timestamp())
    ),
    numbered as (
      update bellwire.webhook_subscriptions as subscription
      set last_position = subscription.last_position + 1
      from heads
      where subscription.id = heads.subscription_id and heads.position is null
      returning subscription.id, subscription.last_position
    ),
    taken as (
      update bellwire.webhook_deliveries as delivery
      set position = coalesce(delivery.position, numbered.last_position),
          state = case when heads.is_expired then 'dead' else 'pending' end,
          last_error = case when heads.is_expired then 'expired after ' || expiry_hours || 'h' else delivery.last_error end,
          leased_by = case when heads.is_expired then null else worker end,
          lease_expires_at = case when heads.is_expired then null else clock_timestamp() + lease end
      from heads
      left join numbered on numbered.id = heads.subscription_id
      where delivery.id = heads.id
      returning delivery.id, heads.is_expired
    )
    select
      claimed_ids || coalesce(array_agg(taken.id) filter (where not taken.is_expired), '{}'),
      count(*) filter (where taken.is_expired)
    into claimed_ids, expired_count
    from taken;
    exit when expired_count = 0;
  end loop;
  claimed_ids := claimed_ids || bellwire.claim_webhook_tests(worker, max_count - cardinality(claimed_ids));

  return query
    select
      delivery.id,
      delivery.subscription_id,
      subscription.url,
      array(
        -- A sealed one with what it is bound to before it.
        select case when secret.secret like 'sealed.%' then secret.seal_id || ' ' else '' end || secret.secret
        from bellwire.webhook_secrets as secret
        where secret.subscription_id = subscription.id
          and (secret.expires_at is null or secret.expires_at > clock_timestamp())
        order by secret.id desc
      ),
      event.event_id,
      event.type,
      delivery.position,
      event.body,
      delivery.attempts
    from bellwire.webhook_deliveries as delivery
    join bellwire.webhook_subscriptions as subscription on subscription.id = delivery.subscription_id
    join bellwire.webhook_events as event on event.id = delivery.event_id
    where delivery.id = any (claimed_ids);
end
$$;

comment on function bellwire.claim_webhooks(uuid, integer) is
  'Leases the oldest pending delivery of each subscription that may be sent to.';

revoke all on function bellwire.claim_webhooks(uuid, integer) from public;
grant execute on function bellwire.claim_webhooks(uuid, integer) to bellwire_worker;
