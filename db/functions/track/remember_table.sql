-- Writes what a table is tracked as: its resource type and the arguments of the call.
-- Called by: track().
-- Errors: 22023 when the type belongs to another table.
create or replace function bellwire.remember_table(of_table regclass, of_type text, with_arguments jsonb)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  if exists (
    select from bellwire.tracked_tables as other where other.type = of_type and other.table_name <> of_table)
  then
    raise exception 'the type % belongs to table %', of_type,
      (select other.table_name from bellwire.tracked_tables as other where other.type = of_type)
      using errcode = '22023', hint = 'Choose another type, or untrack() that table first.';
  end if;
  insert into bellwire.tracked_tables (table_name, type, arguments)
  values (of_table, of_type, with_arguments);
  if of_type is not null then
    insert into bellwire.resource_types (type, parent_type, link_template, is_scope, is_watchable)
    values (
      of_type,
      nullif(split_part(with_arguments ->> 'parent', ':', 1), ''),
      with_arguments ->> 'link_template',
      (with_arguments ->> 'is_scope')::boolean,
      (with_arguments ->> 'is_watchable')::boolean)
    on conflict (type) do update
    set parent_type = excluded.parent_type,
        link_template = excluded.link_template,
        is_scope = excluded.is_scope,
        is_watchable = excluded.is_watchable;
  end if;
end
$$;

comment on function bellwire.remember_table(regclass, text, jsonb) is 'Notes a tracked table and its resource type.';

revoke all on function bellwire.remember_table(regclass, text, jsonb) from public;
grant execute on function bellwire.remember_table(regclass, text, jsonb) to bellwire_admin;
