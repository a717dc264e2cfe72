-- First line of every file in db/policies: takes everything away, so that the file states the whole truth about its
-- table and a policy or grant that was removed from the file is gone from the database too.
-- Called by: the migration, as bellwire_owner.
-- Errors: those of alter table.
create or replace function bellwire.close_table(table_name regclass)
returns void
language plpgsql
set search_path = ''
as $$
declare
  policy_name name;
  grantee name;
begin
  execute format('alter table %s enable row level security', table_name);
  execute format('alter table %s force row level security', table_name);
  for policy_name in select polname from pg_catalog.pg_policy where polrelid = table_name loop
    execute format('drop policy %I on %s', policy_name, table_name);
  end loop;
  execute format('revoke all on %s from public', table_name);
  for grantee in
    select distinct role.rolname
    from pg_catalog.pg_class as class
    cross join lateral aclexplode(class.relacl) as granted
    join pg_catalog.pg_roles as role on role.oid = granted.grantee
    where class.oid = table_name and granted.grantee <> class.relowner
  loop
    execute format('revoke all on %s from %I', table_name, grantee);
  end loop;
  -- A column's own grants are listed with the column.
  for grantee in
    select distinct role.rolname
    from pg_catalog.pg_attribute as attribute
    cross join lateral aclexplode(attribute.attacl) as granted
    join pg_catalog.pg_roles as role on role.oid = granted.grantee
    where attribute.attrelid = table_name and attribute.attacl is not null
  loop
    execute format('revoke all on %s from %I', table_name, grantee);
  end loop;
end
$$;

comment on function bellwire.close_table(regclass) is
  'Enables and forces row security and drops every policy and grant of a table.';

revoke all on function bellwire.close_table(regclass) from public;
grant execute on function bellwire.close_table(regclass) to bellwire_owner;
