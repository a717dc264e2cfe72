-- An example where none is given.
-- Called by: webhook_event_types(), as bellwire_definer.
-- Errors: none.
create or replace function bellwire.webhook_data_example(keys text[])
returns jsonb
language sql
immutable
set search_path = ''
as $$
  select coalesce(jsonb_object_agg(key, case when key ~ '_id$' then to_jsonb(1) else to_jsonb(key) end), '{}')
  from unnest(keys) as key
$$;

comment on function bellwire.webhook_data_example(text[]) is 'Made-up data of an event.';

revoke all on function bellwire.webhook_data_example(text[]) from public;
