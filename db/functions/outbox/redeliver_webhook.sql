-- Sends a dead delivery again, as if for the first time, in its old place: its sequence is older than what is pending, so
-- it is the head again and everything else waits for it, once what is in flight has ended.
-- Called by: bellwire_admin, api.redeliver_webhook().
-- Errors: P0002 for an unknown delivery; 23505 not_dead for any other state and for a test, event_expired for one that
-- would be given up at once, already_pending where the same event waits already.
-- Source: reference 000, section 2b, "Admin".
create or replace function bellwire.redeliver_webhook(id bigint)
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
  if delivery.state <> 'dead' or delivery.is_test then
    raise exception 'only a dead delivery can be sent again, and no test'
      using errcode = '23505', detail = 'not_dead', hint = 'A replay sends again what was delivered.';
  end if;
  if (
    select coalesce(delivery.replayed_at, event.occurred_at) < clock_timestamp() - make_interval(
      hours => (select value::integer from bellwire.settings where name = 'webhook_expiry_hours'))
    from bellwire.webhook_events as event
    where event.id = delivery.event_id)
  then
    raise exception 'the event is too old and would be given up at once'
      using errcode = '23505', detail = 'event_expired', hint = 'A replay sends old events again.';
  end if;
  if exists (
    select
    from bellwire.webhook_deliveries as other
    where other.event_id = delivery.event_id and other.subscription_id = subscription.id and other.state = 'pending')
  then
    raise exception 'this event is waiting to be sent already'
      using errcode = '23505', detail = 'already_pending', hint = 'It was replayed, or sent again, before.';
  end if;
  update bellwire.webhook_deliveries as again
  set state = 'pending', attempts = 0, leased_by = null, lease_expires_at = null
  where again.id = delivery.id;
  perform bellwire.note_webhook_change(subscription, 'redelivered', jsonb_build_object(
    'delivery_id', delivery.id, 'sequence', delivery.sequence));
  perform bellwire.wake('bellwire_webhooks');
end
$$;

comment on function bellwire.redeliver_webhook(bigint) is 'Puts a dead delivery back to pending.';

revoke all on function bellwire.redeliver_webhook(bigint) from public;
grant execute on function bellwire.redeliver_webhook(bigint) to bellwire_admin;
