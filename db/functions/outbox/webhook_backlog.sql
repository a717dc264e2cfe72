-- What waits for each receiver, and for how long the oldest has: for the metrics. Those that wait longest come first, since
-- the count is bounded. One that is turned off is left out: nobody waits for it. What has no number yet is counted by
-- worker_backlog().
-- Called by: bellwire_worker.
-- Errors: none.
create or replace function bellwire.webhook_backlog(max_count integer)
returns table (subscription_id bigint, waiting bigint, oldest_seconds float8)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return query
    select
      delivery.subscription_id,
      count(*),
      extract(epoch from clock_timestamp() - min(delivery.created_at))::float8
    from bellwire.webhook_deliveries as delivery
    join bellwire.webhook_subscriptions as subscription on subscription.id = delivery.subscription_id
    where delivery.state = 'pending' and delivery.sequence is not null and subscription.is_enabled
    group by delivery.subscription_id
    order by min(delivery.created_at), delivery.subscription_id
    limit max_count;
end
$$;

comment on function bellwire.webhook_backlog(integer) is
  'Deliveries waiting per enabled subscription and the age of the oldest in seconds.';

revoke all on function bellwire.webhook_backlog(integer) from public;
grant execute on function bellwire.webhook_backlog(integer) to bellwire_worker;
