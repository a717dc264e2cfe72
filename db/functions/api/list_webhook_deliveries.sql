-- The deliveries of one receiver, the newest first; of one state when given. Of an answer only its status was ever read.
-- Planned anew at each call: the state decides which index serves it.
-- Called by: authenticated.
-- Errors: P0002; 22023 for an unknown state.
create or replace function api.list_webhook_deliveries(
  webhook_id bigint,
  of_state text default null,
  before_id bigint default null,
  page_size integer default 100
)
returns table (
  id bigint,
  event_id uuid,
  type text,
  sequence bigint,
  "position" bigint,
  state text,
  attempts integer,
  last_status integer,
  last_error text,
  last_duration_ms integer,
  last_attempt_at timestamptz,
  delivered_at timestamptz,
  occurred_at timestamptz,
  created_at timestamptz,
  replayed_at timestamptz,
  is_test boolean,
  is_expired boolean
)
language plpgsql
stable
security definer
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  max_page_size constant integer := 501;
  expiry constant interval := make_interval(
    hours => (select setting.value::integer from bellwire.settings as setting where setting.name = 'webhook_expiry_hours'));
begin
  if of_state not in ('pending', 'delivered', 'dead') then
    raise exception 'a delivery is pending, delivered or dead'
      using errcode = '22023', hint = 'Send one of these three words.';
  end if;
  perform bellwire.administered_webhook(webhook_id);
  return query
    select
      delivery.id, event.event_id, event.type, event.sequence, delivery.position, delivery.state, delivery.attempts,
      delivery.last_status, delivery.last_error, delivery.last_duration_ms, delivery.last_attempt_at,
      delivery.delivered_at, event.occurred_at, delivery.created_at, delivery.replayed_at, delivery.is_test,
      coalesce(delivery.replayed_at, event.occurred_at) < clock_timestamp() - expiry
    from bellwire.webhook_deliveries as delivery
    join bellwire.webhook_events as event on event.id = delivery.event_id
    where delivery.subscription_id = webhook_id
      and (before_id is null or delivery.id < before_id)
      and (of_state is null or delivery.state = of_state)
    order by delivery.id desc
    limit least(greatest(coalesce(page_size, 100), 1), max_page_size);
end
$$;

comment on function api.list_webhook_deliveries(bigint, text, bigint, integer) is
  'Deliveries of a webhook subscription, the newest first.';

revoke all on function api.list_webhook_deliveries(bigint, text, bigint, integer) from public;
grant execute on function api.list_webhook_deliveries(bigint, text, bigint, integer) to authenticated;
