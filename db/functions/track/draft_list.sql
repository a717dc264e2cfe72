-- All entries of track()'s actions for one operation, as a list of SQL expressions; null when there are none.
-- Called by: generate_tracking().
-- Errors: those of action_draft().
create or replace function bellwire.draft_list(
  table_name regclass,
  operation text,
  type text,
  parent_type text,
  arguments jsonb
)
returns text
language sql
stable
set search_path = ''
as $$
  select string_agg(
    bellwire.action_draft(table_name, entry.value, type, parent_type, arguments ->> 'title', arguments ->> 'mentions'),
    E',\n      ' order by entry.number)
  from jsonb_array_elements(arguments -> 'actions') with ordinality as entry(value, number)
  where entry.value ->> 'on' = operation
    -- An entry without a known "on" is shown to the first round, which refuses it.
    or operation = 'insert' and coalesce(entry.value ->> 'on', '') not in ('insert', 'update', 'delete')
$$;

comment on function bellwire.draft_list(regclass, text, text, text, jsonb) is
  'SQL expressions of all actions of a tracked table for one operation.';

revoke all on function bellwire.draft_list(regclass, text, text, text, jsonb) from public;
grant execute on function bellwire.draft_list(regclass, text, text, text, jsonb) to bellwire_admin;
