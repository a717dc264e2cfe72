-- A JSON schema of an event's data. Ids are integers or null, texts at most 255 code points: see event_value(). A key is only
-- required where the data cannot be too long to be sent whole: with two texts at most.
-- Called by: webhook_event_types(), as bellwire_definer.
-- Errors: none.
create or replace function bellwire.webhook_data_schema(keys text[], example jsonb, has_fixed_keys boolean)
returns jsonb
language sql
immutable
set search_path = ''
as $$
  select jsonb_build_object(
    'type', 'object',
    'properties', coalesce(jsonb_object_agg(key, case
      when key ~ '_id$' and example is not null then '{"type": ["integer", "null"]}'::jsonb
      when key ~ '_id$' then '{"type": ["integer", "string", "null"]}'
      when jsonb_typeof(example -> key) = 'string' or key in ('title', 'name')
        then '{"type": ["string", "null"], "maxLength": 255}'
      when jsonb_typeof(example -> key) in ('number', 'boolean')
        then jsonb_build_object('type', jsonb_build_array(jsonb_typeof(example -> key), 'null'))
      else '{}'
    end), '{}') || case
      when has_fixed_keys and count(*) filter (where key !~ '_id$') <= 2 then '{}'::jsonb
      else '{"truncated": {"const": true}}'
    end,
    'required', case
      when has_fixed_keys and count(*) filter (where key !~ '_id$') <= 2 then to_jsonb(keys)
      else '[]'
    end)
  from unnest(keys) as key
$$;

comment on function bellwire.webhook_data_schema(text[], jsonb, boolean) is 'A JSON schema of the data of an event.';

revoke all on function bellwire.webhook_data_schema(text[], jsonb, boolean) from public;
