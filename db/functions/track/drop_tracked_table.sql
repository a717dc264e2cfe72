-- Deletes the note of a tracked table.
-- Called by: track() and untrack().
-- Errors: none.
create or replace function bellwire.drop_tracked_table(of_table regclass)
returns void
language sql
security definer
set search_path = ''
as $$
  delete from bellwire.tracked_tables as tracked where tracked.table_name = of_table
$$;

comment on function bellwire.drop_tracked_table(regclass) is 'Deletes a row of tracked_tables.';

revoke all on function bellwire.drop_tracked_table(regclass) from public;
grant execute on function bellwire.drop_tracked_table(regclass) to bellwire_admin;
