-- Decides whether people are told in this transaction or by the worker. To the worker goes a bulk change, a large
-- audience, and an event whose 60-second window somebody else is writing at this moment: waiting for them would make one
-- writer wait for another.
-- A window's lock is one of 1024, so that a transaction that touches ten thousand documents cannot fill the lock table;
-- two resources that share one only take the queue.
-- Called by: fan_out() and record_activity(), as bellwire_definer.
-- Errors: those of tell_people().
create or replace function bellwire.tell_or_queue(events bellwire.fan_out_event[])
returns void
language plpgsql
set search_path = ''
as $$
declare
  window_locks constant integer := 7301; -- first half of the advisory key
  window_count constant integer := 1024;
  queued bellwire.fan_out_event[] := '{}';
  event bellwire.fan_out_event;
begin
  if cardinality(events) > 1
    and cardinality(events) > (select value from bellwire.settings where name = 'sync_fanout_events')
  then
    queued := events;
  else
    foreach event in array events loop
      if not pg_try_advisory_xact_lock(window_locks, (event.target_id % window_count)::integer)
        or bellwire.tell_people(event, 0, null) is not null
      then
        queued := queued || event;
      end if;
    end loop;
  end if;

  if cardinality(queued) > 0 then
    insert into bellwire.fan_out_queue (event)
    select to_jsonb(waiting) from unnest(queued) as waiting;
    perform bellwire.wake('bellwire_fan_out');
  end if;
end
$$;

comment on function bellwire.tell_or_queue(bellwire.fan_out_event[]) is
  'Tells the people of these events now, or leaves them to the worker.';

revoke all on function bellwire.tell_or_queue(bellwire.fan_out_event[]) from public;
