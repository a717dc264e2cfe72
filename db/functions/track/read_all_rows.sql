-- Makes sure that whoever tracks a table sees every row of it: what row security hides would silently stay out of the
-- registry. The owner of a table that forces row security on its owner too lifts that for the rest of the call; the lock
-- keeps everybody else out until it is back, and the transaction either has both or none.
-- Called by: register_rows(), generate_members() and generate_users(), which put it back.
-- Errors: 42501 for somebody whom the table's row security binds.
-- Returns: whether row security is to be forced again.
create or replace function bellwire.read_all_rows(table_name regclass)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  class pg_catalog.pg_class;
begin
  if not row_security_active(table_name) then
    return false;
  end if;
  select known.* into class from pg_catalog.pg_class as known where known.oid = table_name;
  if not class.relforcerowsecurity or not pg_has_role(class.relowner, 'usage') then
    raise exception 'row security hides rows of table % from you', table_name
      using errcode = '42501', hint = 'Track it as its owner, or as a role that row security does not bind.';
  end if;
  execute format('alter table %s no force row level security', table_name);
  return true;
end
$$;

comment on function bellwire.read_all_rows(regclass) is
  'Lifts FORCE ROW LEVEL SECURITY for the owner, or raises when rows would be hidden.';

revoke all on function bellwire.read_all_rows(regclass) from public;
grant execute on function bellwire.read_all_rows(regclass) to bellwire_admin;
