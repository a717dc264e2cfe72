-- Rule 300: tells the people, in this transaction or by the worker. To the worker goes a bulk change, a large audience,
-- and an event whose 60-second window somebody else is writing at this moment: waiting for them would make one writer
-- wait for another. (Nor can a transaction that keeps its snapshot tell how the window is now.)
-- Called by: apply_rules(), as bellwire_definer.
-- Errors: none of its own.
-- Returns: how many events it left to the worker.
-- Source: reference 000, section 2, "Watcher fan-out".
create or replace function bellwire.fan_out(events bellwire.rule_event[])
returns bigint
language plpgsql
set search_path = ''
as $$
declare
  audible bellwire.rule_event[] := events;
  queued bellwire.rule_event[] := '{}';
  is_bulk boolean := false;
  event bellwire.rule_event;
  is_woken boolean;
begin
  if cardinality(events) > 1 then
    -- What tells nobody does not count, and mostly nobody else watches the rows of a bulk change. One event is not asked
    -- twice: tell_people() asks.
    audible := array(
      select told
      from unnest(events) as told
      where told.owner_kind is not null
        or told.named_ids is not null
        or told.watcher_kind is not null
          and exists (
            select
            from bellwire.watches as watch
            where watch.resource_id = any (told.audience) and watch.user_id is distinct from told.actor_id
          ));
    is_bulk := cardinality(audible) > (select value from bellwire.settings where name = 'sync_fanout_events');
  end if;
  if is_bulk or current_setting('transaction_isolation') <> 'read committed' then
    -- A transaction that keeps its snapshot does not see the window as it is now; the worker does.
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
    select row_to_json(waiting) from unnest(queued) as waiting;
    is_woken := bellwire.wake('bellwire_fan_out');
  end if;
  return cardinality(queued);
end
$$;

comment on function bellwire.fan_out(bellwire.rule_event[]) is
  'Rule 300: tells the people of these events now, or leaves them to the worker.';

revoke all on function bellwire.fan_out(bellwire.rule_event[]) from public;
