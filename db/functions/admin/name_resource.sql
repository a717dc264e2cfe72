-- A resource as an administrator reads it: its type and key, by which it is found, and its title.
-- Called by: the explain_ functions, as bellwire_definer; the admin_ views, as bellwire_admin.
-- Errors: none.
create or replace function bellwire.name_resource(type text, ref text, title text)
returns text
language sql
immutable
parallel safe
as $$
  select type || ' ' || ref || coalesce(' “' || title || '”', '')
$$;

comment on function bellwire.name_resource(text, text, text) is 'Type, key and title in one word: log 7 “Tides”.';

revoke all on function bellwire.name_resource(text, text, text) from public;
grant execute on function bellwire.name_resource(text, text, text) to bellwire_admin;
