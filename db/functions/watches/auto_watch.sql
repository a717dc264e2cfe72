-- Rule 200: whoever creates, edits or comments starts watching. Never over a manual watch and never over a mute.
-- Called by: record_activity(), as bellwire_definer.
-- Errors: none; a failure lands in rule_failures.
-- Returns: how many watches it wrote.
-- Source: reference 000, section 2, "Auto-watch".
create or replace function bellwire.auto_watch(events bellwire.rule_event[])
returns bigint
language plpgsql
set search_path = ''
as $$
declare
  watch_count bigint;
  state text;
  message text;
  context text;
begin
  insert into bellwire.watches (resource_id, user_id, source)
  select event.target_id, event.actor_id, event.auto_watch
  from unnest(events) as event
  where event.auto_watch is not null and event.target_id is not null
  on conflict (resource_id, user_id) do nothing;

  get diagnostics watch_count = row_count;
  return watch_count;
exception when others then
  get stacked diagnostics state = returned_sqlstate, message = message_text, context = pg_exception_context;
  perform bellwire.fail_rule('auto_watch', bellwire.activity_ids(events), state, message, context);
  return 0;
end
$$;

comment on function bellwire.auto_watch(bellwire.rule_event[]) is 'Rule 200: the actor starts watching what they work on.';

revoke all on function bellwire.auto_watch(bellwire.rule_event[]) from public;
