-- Brings the registry in step with the rows that are in a table now, without activity: what is there is registered, what
-- is not is marked as deleted.
-- Called by: track() and retrack(), with the caller's rights on the table; see read_all_rows().
-- Errors: 42501 without SELECT on the table; those of read_all_rows().
create or replace function bellwire.register_rows(table_name regclass, type text, arguments jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  batch_rows constant integer := 5000; -- registered at a time
  parent_type constant text := (bellwire.parse_parent(arguments ->> 'parent', type)).type;
  registered constant text := format(
    'select bellwire_ref, bellwire_parent_ref, bellwire_workspace_id, bellwire_title, bellwire_owner_id '
    'from (%s %s as bellwire_row) as registered',
    bellwire.tracked_columns(table_name, type, arguments), table_name);
  was_forced constant boolean := bellwire.read_all_rows(table_name);
  existing refcursor;
  entries bellwire.resource_entry[];
  gone text[];
begin
  if has_table_privilege(table_name, 'update, delete, truncate') then
    -- The first time the new triggers hold this lock already; later on, a title that is changed meanwhile must not be
    -- put back.
    execute format('lock table %s in share row exclusive mode', table_name);
  end if;
  open existing for execute registered;
  loop
    entries := bellwire.fetch_entries(existing, batch_rows);
    exit when entries is null;
    perform bellwire.register_resources(type, parent_type, entries);
  end loop;
  close existing;
  execute format(
    'select array_agg(missing.ref) from (select resource.ref from bellwire.resources as resource '
    'where resource.type = %L and resource.deleted_at is null except select entry.bellwire_ref from (%s) as entry) as missing',
    type, registered) into gone;
  perform bellwire.mark_deleted(type, gone);
  if was_forced then
    execute format('alter table %s force row level security', table_name);
  end if;
end
$$;

comment on function bellwire.register_rows(regclass, text, jsonb) is 'Registers the rows of a table without activity.';

revoke all on function bellwire.register_rows(regclass, text, jsonb) from public;
grant execute on function bellwire.register_rows(regclass, text, jsonb) to bellwire_admin;
