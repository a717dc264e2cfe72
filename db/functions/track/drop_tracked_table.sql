-- Deletes the note of a tracked table, and those of tables that were dropped since.
-- Called by: remember_table() and untrack().
-- Errors: none.
create or replace function bellwire.drop_tracked_table(of_table regclass, of_call text)
returns void
language sql
security definer
set search_path = ''
as $$
  delete from bellwire.tracked_tables as tracked
  where tracked.table_name = of_table and (of_call is null or tracked.call = of_call)
    or not exists (select from pg_catalog.pg_class as class where class.oid = tracked.table_name)
$$;

comment on function bellwire.drop_tracked_table(regclass, text) is
  'Deletes rows of tracked_tables: of this table and call, or, when that is null, of every call.';

revoke all on function bellwire.drop_tracked_table(regclass, text) from public;
grant execute on function bellwire.drop_tracked_table(regclass, text) to bellwire_admin;
