-- What the generated functions of a table are called: after its type, which belongs to one table; without a type after the
-- table, with a few digits of its hash so that two names that are cut alike stay apart.
-- Called by: track() and track_members().
-- Errors: none.
create or replace function bellwire.tracked_name(table_name regclass, type text)
returns text
language sql
stable
set search_path = ''
as $$
  select coalesce(type, left(replace(table_name::text, '.', '_'), 40) || '_' || left(md5(table_name::text), 6))
$$;

comment on function bellwire.tracked_name(regclass, text) is 'Stem of the names of the functions generated for a table.';

revoke all on function bellwire.tracked_name(regclass, text) from public;
grant execute on function bellwire.tracked_name(regclass, text) to bellwire_admin;
