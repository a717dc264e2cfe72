-- The sequencer: numbers committed events in the order it sees them and stores their bytes. One at a time; a second one
-- leaves at once. Numbers have no gaps, because only this function gives them and it commits them with the counter.
-- Called by: bellwire_worker, until it returns 0.
-- Errors: none of its own.
-- Returns: how many events it numbered; 0 also while another worker is at it.
create or replace function bellwire.sequence_webhooks(max_count integer)
returns integer
language plpgsql
security definer
set search_path = ''
as $$
declare
  sequencer_lock constant integer := 7303;
  numbered_count integer;
begin
  if not pg_try_advisory_xact_lock(sequencer_lock, 0) then
    return 0;
  end if;
  with unnumbered as materialized (
    select event.id
    from bellwire.webhook_events as event
    where event.sequence is null
    order by event.id
    limit max_count
  ),
  numbered as materialized (
    select unnumbered.id, counter.last_sequence + row_number() over (order by unnumbered.id) as number
    from unnumbered
    cross join bellwire.webhook_sequence as counter
  ),
  stored as (
    update bellwire.webhook_events as event
    set sequence = numbered.number,
        body = bellwire.envelope(event, numbered.number)
    from numbered
    where event.id = numbered.id
    returning event.id
  ),
  delivered as (
    update bellwire.webhook_deliveries as delivery
    set sequence = numbered.number
    from numbered
    where delivery.event_id = numbered.id
  ),
  counted as (
    update bellwire.webhook_sequence as counter
    set last_sequence = (select max(numbered.number) from numbered)
    where exists (select from numbered)
  )
  select count(*) into numbered_count from stored;
  return numbered_count;
end
$$;

comment on function bellwire.sequence_webhooks(integer) is 'Numbers committed webhook events and stores their bodies.';

revoke all on function bellwire.sequence_webhooks(integer) from public;
grant execute on function bellwire.sequence_webhooks(integer) to bellwire_worker;
