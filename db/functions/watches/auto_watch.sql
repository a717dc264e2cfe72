-- Rule 200: whoever creates, edits or comments starts watching. Never over a manual watch and never over a mute.
-- Called by: apply_rules(), as bellwire_definer.
-- Errors: none of its own.
-- Returns: how many watches it wrote.
-- Source: reference 000, section 2, "Auto-watch".
create or replace function bellwire.auto_watch(events bellwire.rule_event[])
returns bigint
language plpgsql
set search_path = ''
as $$
declare
  watch_count bigint;
begin
  insert into bellwire.watches (resource_id, user_id, source)
  select event.target_id, event.actor_id, event.auto_watch
  from unnest(events) as event
  where event.auto_watch is not null and event.target_id is not null
  on conflict (resource_id, user_id) do nothing;

  get diagnostics watch_count = row_count;
  return watch_count;
end
$$;

comment on function bellwire.auto_watch(bellwire.rule_event[]) is 'Rule 200: the actor starts watching what they work on.';

revoke all on function bellwire.auto_watch(bellwire.rule_event[]) from public;
