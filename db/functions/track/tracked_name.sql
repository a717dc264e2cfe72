-- What the generated functions of a table are called: after its type, which belongs to one table; without a type after the
-- table, with a few digits of its hash so that two names that are cut alike stay apart. Only plain letters, because a name
-- has room for 63 bytes.
-- Called by: generate_tracking(), generate_members() and generate_users().
-- Errors: none.
create or replace function bellwire.tracked_name(table_name regclass, type text)
returns text
language sql
stable
set search_path = ''
as $$
  select coalesce(
    type,
    left(regexp_replace(table_name::text, '[^A-Za-z0-9]+', '_', 'g'), 40) || '_' || left(md5(table_name::text), 6))
$$;

comment on function bellwire.tracked_name(regclass, text) is 'Stem of the names of the functions generated for a table.';

revoke all on function bellwire.tracked_name(regclass, text) from public;
grant execute on function bellwire.tracked_name(regclass, text) to bellwire_admin;
