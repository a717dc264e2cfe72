-- The entries of events, for the note of a rule that failed.
-- Called by: the rules, as bellwire_definer.
-- Errors: none.
create or replace function bellwire.activity_ids(events bellwire.rule_event[])
returns bigint[]
language sql
immutable
set search_path = ''
as $$
  select array_agg(event.activity_id) filter (where event.activity_id is not null) from unnest(events) as event
$$;

comment on function bellwire.activity_ids(bellwire.rule_event[]) is 'Ids of the activity entries of these events.';

revoke all on function bellwire.activity_ids(bellwire.rule_event[]) from public;
