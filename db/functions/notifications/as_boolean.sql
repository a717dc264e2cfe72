-- What JavaScript would call truthy, as a boolean; null where nothing was given.
-- Called by: api.set_notification_preferences(), as bellwire_definer.
-- Errors: none.
-- Source: reference 000, section 4 ("coerces to boolean").
create or replace function bellwire.as_boolean(value jsonb)
returns boolean
language sql
immutable
parallel safe
as $$
  select case jsonb_typeof(value)
    when 'boolean' then value::boolean
    when 'null' then false
    when 'number' then value::numeric <> 0
    when 'string' then value #>> '{}' <> ''
    when 'object' then true
    when 'array' then true
  end
$$;

comment on function bellwire.as_boolean(jsonb) is 'Coerces JSON to boolean.';

revoke all on function bellwire.as_boolean(jsonb) from public;
