-- A JSON schema of an event's data. Ids are integers or null, or text where the example has text or says nothing of them; texts
-- have at most 255 code points: see event_value(). A key is only required where the data cannot be too long to be sent whole:
-- with two texts at most, and nothing else but ids.
-- Called by: webhook_event_types(), as bellwire_definer.
-- Errors: none.
create or replace function bellwire.webhook_data_schema(keys text[], example jsonb, has_fixed_keys boolean)
returns jsonb
language sql
immutable
set search_path = ''
as $$
  with described as (
    select
      key,
      key ~ '_id$' as is_id,
      key !~ '_id$' and coalesce(jsonb_typeof(example -> key) = 'string' or key in ('title', 'name'), false) as is_text
    from unnest(keys) as key
  ),
  bounded as (
    select has_fixed_keys and coalesce(bool_and(is_id or is_text), true) and count(*) filter (where is_text) <= 2 as is_whole from described
  )
  select jsonb_build_object(
    'type', 'object',
    'properties', coalesce(jsonb_object_agg(key, case
      when is_id and jsonb_typeof(example -> key) in ('number', 'null') then '{"type": ["integer", "null"]}'::jsonb
      when is_id then '{"type": ["integer", "string", "null"]}'
      when is_text then '{"type": ["string", "null"], "maxLength": 255}'
      when jsonb_typeof(example -> key) in ('number', 'boolean')
        then jsonb_build_object('type', jsonb_build_array(jsonb_typeof(example -> key), 'null'))
      else '{}'
    end) filter (where key is not null), '{}') || case when bounded.is_whole then '{}'::jsonb else '{"truncated": {"const": true}}' end,
    'required', case when bounded.is_whole then to_jsonb(keys) else '[]' end)
  from bounded left join described on true
  group by bounded.is_whole
$$;

comment on function bellwire.webhook_data_schema(text[], jsonb, boolean) is 'A JSON schema of the data of an event.';

revoke all on function bellwire.webhook_data_schema(text[], jsonb, boolean) from public;
