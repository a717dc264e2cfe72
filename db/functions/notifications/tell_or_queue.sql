-- Decides whether people are told in this transaction or by the worker. To the worker goes a bulk change, a large
-- audience, and an event whose 60-second window somebody else is writing at this moment: waiting for them would make one
-- writer wait for another.
-- Called by: fan_out() and record_activity(), as bellwire_definer.
-- Errors: those of tell_people().
create or replace function bellwire.tell_or_queue(events bellwire.fan_out_event[])
returns void
language plpgsql
set search_path = ''
as $$
declare
  audible bellwire.fan_out_event[] := events;
  queued bellwire.fan_out_event[] := '{}';
  is_bulk boolean := false;
  event bellwire.fan_out_event;
begin
  if cardinality(events) > 1 then
    -- What tells nobody does not count. One event is not asked twice: tell_people() reads its rule.
    audible := array(
      select told
      from unnest(events) as told
      join bellwire.action_rules as rule on rule.action = told.action
      where rule.watcher_kind is not null or rule.owner_kind is not null or told.named_ids is not null);
    is_bulk := cardinality(audible) > (select value from bellwire.settings where name = 'sync_fanout_events');
  end if;
  if is_bulk then
    queued := audible;
  else
    foreach event in array audible loop
      if bellwire.tell_people(event, 0, null, false) is not null then
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
