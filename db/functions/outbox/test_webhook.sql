-- Sends an event of type webhook.test to one receiver: sequence, envelope and signature as of any other, whatever types it
-- wants. It is sent once, beside the queue, so that neither a pause nor a backlog is in its way and its failure stops nothing;
-- a success ends the pause.
-- Called by: bellwire_admin, api.test_webhook().
-- Errors: P0002 for an unknown subscription; 23505 subscription_disabled, and test_pending while one is on its way.
-- Returns: the delivery, where its outcome is to be read.
create or replace function bellwire.test_webhook(id bigint)
returns bigint
language plpgsql
security definer
set search_path = ''
as $$
declare
  sequencer_lock constant integer := 7303; -- as in sequence_webhooks()
  subscription bellwire.webhook_subscriptions;
  event bellwire.webhook_events;
  number bigint;
  delivery_id bigint;
begin
  subscription := bellwire.lock_webhook_subscription(id);
  if not subscription.is_enabled then
    raise exception 'the receiver is disabled'
      using errcode = '23505', detail = 'subscription_disabled', hint = 'Enable it first: that sends what is pending, too.';
  end if;
  if exists (
    select
    from bellwire.webhook_deliveries as delivery
    where delivery.subscription_id = subscription.id and delivery.is_test and delivery.state = 'pending')
  then
    raise exception 'a test is on its way already'
      using errcode = '23505', detail = 'test_pending', hint = 'See what becomes of it; it is sent when a worker runs.';
  end if;
  -- Numbered here and not by the sequencer, which would put it into the queue; nobody numbers meanwhile.
  perform pg_advisory_xact_lock(sequencer_lock, 0);
  update bellwire.webhook_sequence as counter
  set last_sequence = counter.last_sequence + 1
  returning counter.last_sequence into number;
  insert into bellwire.webhook_events as added (type, workspace_id)
  values ('webhook.test', subscription.workspace_id)
  returning added.* into event;
  update bellwire.webhook_events as numbered
  set sequence = number, body = bellwire.test_envelope(event, number, subscription.id)
  where numbered.id = event.id;
  insert into bellwire.webhook_deliveries as added (subscription_id, event_id, is_test)
  values (subscription.id, event.id, true)
  returning added.id into delivery_id;
  perform bellwire.note_webhook_change(subscription, 'tested', jsonb_build_object(
    'delivery_id', delivery_id, 'sequence', number));
  perform bellwire.wake('bellwire_webhooks');
  return delivery_id;
end
$$;

comment on function bellwire.test_webhook(bigint) is 'Sends a test event to one receiver; returns its delivery.';

revoke all on function bellwire.test_webhook(bigint) from public;
grant execute on function bellwire.test_webhook(bigint) to bellwire_admin;
