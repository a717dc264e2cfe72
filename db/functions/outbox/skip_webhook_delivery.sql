-- Gives up the head of a receiver that will never take it, so that the next one is sent, at once. The receiver sees a gap.
-- Called by: bellwire_admin, api.skip_webhook().
-- Errors: P0002 for an unknown delivery; 23505 not_the_head for one that is not pending or not the oldest, in_flight while
-- something is being sent.
create or replace function bellwire.skip_webhook_delivery(id bigint)
returns void
language plpgsql
security definer
set search_path = ''
as $$
declare
  delivery bellwire.webhook_deliveries;
  subscription bellwire.webhook_subscriptions;
begin
  delivery := bellwire.lock_webhook_delivery(id);
  subscription := bellwire.lock_webhook_subscription(delivery.subscription_id);
  if delivery.id is distinct from (
    select head.id
    from bellwire.webhook_deliveries as head
    where head.subscription_id = subscription.id and head.state = 'pending' and head.sequence is not null
    order by head.sequence
    limit 1)
  then
    raise exception 'only the oldest pending delivery of a receiver can be skipped'
      using errcode = '23505', detail = 'not_the_head', hint = 'Nothing behind it is waited for.';
  end if;
  -- Also another one than the head: a replay may have come before what was in flight.
  if bellwire.is_webhook_in_flight(subscription.id) then
    raise exception 'a delivery to this receiver is being sent at this moment'
      using errcode = '23505', detail = 'in_flight', hint = 'See what becomes of it, then skip it.';
  end if;
  if delivery.position is null then
    subscription.last_position := subscription.last_position + 1;
  end if;
  update bellwire.webhook_deliveries as skipped
  set state = 'dead',
      position = coalesce(skipped.position, subscription.last_position),
      last_error = left('skipped by ' || coalesce(
        (select person.name from bellwire.users as person where person.id = bellwire.current_user_id()),
        'an administrator of the database'), 255),
      leased_by = null,
      lease_expires_at = null
  where skipped.id = delivery.id;
  update bellwire.webhook_subscriptions as going
  set last_position = subscription.last_position, paused_until = null
  where going.id = subscription.id;
  perform bellwire.note_webhook_change(subscription, 'skipped', jsonb_build_object(
    'delivery_id', delivery.id, 'sequence', delivery.sequence, 'last_error', delivery.last_error));
  perform bellwire.wake('bellwire_webhooks');
end
$$;

comment on function bellwire.skip_webhook_delivery(bigint) is 'Gives up the oldest pending delivery of a receiver.';

revoke all on function bellwire.skip_webhook_delivery(bigint) from public;
grant execute on function bellwire.skip_webhook_delivery(bigint) to bellwire_admin;
