-- Sends events again, in the order of their sequence: those since an instant, or from a sequence on, that are of the
-- subscription's workspace and types as they are now, were written for anybody, and are not waiting already. Each is a new
-- delivery with a position of its own, so that what was recorded stays, and its age counts from now. Their sequences are
-- older than what is pending, so they are sent first.
-- Called by: bellwire_admin, api.replay_webhook().
-- Errors: P0002 for an unknown subscription; 22023 unless exactly one of instant and sequence is given.
-- Returns: how many, the first and the last of their sequences, and from which to go on where the limit left some out.
create or replace function bellwire.replay_webhooks(id bigint, since timestamptz default null, from_sequence bigint default null)
returns table (replayed integer, first_sequence bigint, last_sequence bigint, next_sequence bigint)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  max_events constant integer := (
    select setting.value from bellwire.settings as setting where setting.name = 'webhook_replay_limit');
  subscription bellwire.webhook_subscriptions;
begin
  if (since is null) = (from_sequence is null) then
    raise exception 'a replay begins at an instant or at a sequence'
      using errcode = '22023', hint = 'Pass one of the two.';
  end if;
  subscription := bellwire.lock_webhook_subscription(id);
  with chosen as materialized (
    select event.id as event_id, event.sequence
    from bellwire.webhook_events as event
    where event.sequence >= coalesce(from_sequence, 1)
      and event.occurred_at >= coalesce(since, '-infinity')
      and event.activity_id is not null
      and (subscription.workspace_id is null or event.workspace_id = subscription.workspace_id)
      and (subscription.event_types is null or event.type = any (subscription.event_types))
      and not exists (
        select
        from bellwire.webhook_deliveries as waiting
        where waiting.event_id = event.id and waiting.subscription_id = subscription.id and waiting.state = 'pending')
    order by event.sequence
    limit max_events + 1
    for key share of event skip locked -- what retention is deleting at this moment is gone
  ),
  replayed_events as (
    select chosen.event_id, chosen.sequence from chosen order by chosen.sequence limit max_events
  ),
  written as (
    insert into bellwire.webhook_deliveries (subscription_id, event_id, sequence, replayed_at)
    select subscription.id, replayed_events.event_id, replayed_events.sequence, clock_timestamp()
    from replayed_events
    order by replayed_events.sequence
    returning sequence
  )
  select
    count(*), min(written.sequence), max(written.sequence),
    (select max(chosen.sequence) from chosen having count(*) > max_events)
  into replayed, first_sequence, last_sequence, next_sequence
  from written;
  perform bellwire.note_webhook_change(subscription, 'replayed', jsonb_build_object(
    'since', since, 'from_sequence', from_sequence, 'replayed', replayed,
    'first_sequence', first_sequence, 'last_sequence', last_sequence));
  perform bellwire.wake('bellwire_webhooks');
  return next;
end
$$;

comment on function bellwire.replay_webhooks(bigint, timestamptz, bigint) is
  'Sends the events since an instant or from a sequence on again.';

revoke all on function bellwire.replay_webhooks(bigint, timestamptz, bigint) from public;
grant execute on function bellwire.replay_webhooks(bigint, timestamptz, bigint) to bellwire_admin;
