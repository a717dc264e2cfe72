-- Tells the people of queued events, a chunk a call; each call is a transaction of its own. Progress is committed
-- with the notifications it stands for, so a worker that is killed neither forgets nor tells anybody twice.
-- Called by: bellwire_worker, until it returns 0.
-- Errors: none of its own; an event that fails is noted in rule_failures and dropped from the queue.
-- Returns: chunks done.
create or replace function bellwire.drain_fan_out(max_chunks integer)
returns integer
language plpgsql
security definer
set search_path = ''
set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off
set jit = off
as $$
declare
  chunk_size constant bigint := (select value from bellwire.settings where name = 'fanout_chunk');
  waiting bellwire.fan_out_queue;
  event bellwire.rule_event;
  last_user_id bigint;
  done_count integer := 0;
  state text;
  message text;
  context text;
begin
  for waiting in
    select * from bellwire.fan_out_queue order by id limit max_chunks for update skip locked
  loop
    event := json_populate_record(null::bellwire.rule_event, waiting.event);
    begin
      -- Only the first window is waited for, while no other is held; so two workers cannot wait for each other.
      last_user_id := bellwire.tell_people(event, waiting.after_user_id, chunk_size, done_count = 0);
    exception when others then
      get stacked diagnostics state = returned_sqlstate, message = message_text, context = pg_exception_context;
      if bellwire.is_outage(state) or state ~ '^(40|55)' then
        raise; -- the server's trouble, not the event's: it stays in the queue
      end if;
      perform bellwire.fail_rule('drain_fan_out', array[event.activity_id], state, message, context);
      last_user_id := null;
    end;
    continue when last_user_id = 0;
    if last_user_id is null then
      delete from bellwire.fan_out_queue as queue where queue.id = waiting.id;
    else
      update bellwire.fan_out_queue as queue set after_user_id = last_user_id where queue.id = waiting.id;
    end if;
    done_count := done_count + 1;
  end loop;
  return done_count;
end
$$;

comment on function bellwire.drain_fan_out(integer) is
  'Fans out queued events, at most so many chunks; returns how many it did.';

revoke all on function bellwire.drain_fan_out(integer) from public;
grant execute on function bellwire.drain_fan_out(integer) to bellwire_worker;
