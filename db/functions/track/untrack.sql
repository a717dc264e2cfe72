-- Ends tracking: triggers and generated functions go, the registry and what was recorded stay.
-- Called by: bellwire_admin with the rights of the table's owner.
-- Errors: P0002 for a table that is not tracked.
create or replace function bellwire.untrack(table_name regclass)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if not bellwire.forget_table(table_name, 'bellwire_', '{}') then
    raise exception 'table % is not tracked', table_name
      using errcode = 'P0002', hint = 'select table_name, type from bellwire.tracked_tables';
  end if;
  perform bellwire.drop_tracked_table(table_name, null);
  perform bellwire.drop_unused_functions();
end
$$;

comment on function bellwire.untrack(regclass) is 'Removes what track(), track_members() or track_users() made for a table.';

revoke all on function bellwire.untrack(regclass) from public;
grant execute on function bellwire.untrack(regclass) to bellwire_admin;
