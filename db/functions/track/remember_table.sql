-- Writes what a table is tracked as: its resource type and the arguments of the call, from which retrack() makes it again.
-- Called by: track(), track_members() and track_users().
-- Errors: 22023 when the type belongs to another table.
create or replace function bellwire.remember_table(of_table regclass, of_call text, of_type text, with_arguments jsonb)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform bellwire.drop_tracked_table(of_table, of_call);
  if exists (
    select from bellwire.tracked_tables as other where other.type = of_type and other.table_name <> of_table)
  then
    raise exception 'the type % belongs to table %', of_type,
      (select other.table_name from bellwire.tracked_tables as other where other.type = of_type)
      using errcode = '22023', hint = 'Choose another type, or untrack() that table first.';
  end if;
  insert into bellwire.tracked_tables (table_name, call, type, arguments)
  values (of_table, of_call, of_type, with_arguments);
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

comment on function bellwire.remember_table(regclass, text, text, jsonb) is 'Notes a tracked table and its resource type.';

revoke all on function bellwire.remember_table(regclass, text, text, jsonb) from public;
grant execute on function bellwire.remember_table(regclass, text, text, jsonb) to bellwire_admin;
