-- One value of an event's data: ids of digits become numbers, text is bounded so that no body outgrows 4 KiB.
-- Called by: event_data(), as bellwire_definer.
-- Errors: none.
-- Source: reference 000, section 2a (every id an integer or null; titles and names at most 255 code points).
create or replace function bellwire.event_value(key text, value jsonb)
returns jsonb
language sql
immutable
parallel safe
as $$
  select case
    when value is null then 'null'::jsonb
    when jsonb_typeof(value) <> 'string' then value
    when key ~ '_id$' and value #>> '{}' ~ '^[0-9]{1,18}$' then to_jsonb((value #>> '{}')::bigint)
    else to_jsonb(left(value #>> '{}', 255))
  end
$$;

comment on function bellwire.event_value(text, jsonb) is 'Bounds one value of the data of a webhook event.';

revoke all on function bellwire.event_value(text, jsonb) from public;
