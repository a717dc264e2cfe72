-- The statements of a generated function that bring the registry in step with the rows of a statement; null for a table
-- whose rows are not registered.
-- Called by: tracked_body().
-- Errors: none.
create or replace function bellwire.registry_step(operation text, type text, parent_type text, row_columns text)
returns text
language sql
immutable
set search_path = ''
as $$
  select case operation
    when 'delete' then format(
      E'  update bellwire.resources as resource set deleted_at = now()\n'
      '  where resource.type = %L\n'
      '    and resource.ref = any (array(select bellwire_ref from (%s before_table as bellwire_row) as entry));\n',
      type, row_columns)
    else
      case when operation = 'update' then format(
        E'  if bellwire_change = 2 then\n    bellwire_is_paired := bellwire.rekey_resources(%1$L,\n'
        '      (select array_agg(bellwire_ref) from (%2$s before_table as bellwire_row) as entry),\n'
        '      (select array_agg(bellwire_ref) from (%2$s after_table as bellwire_row) as entry));\n  end if;\n',
        type, row_columns) else '' end
      || format(
        E'  perform bellwire.register_resources(%L, %L, array(\n'
        '    select row(bellwire_ref, bellwire_parent_ref, bellwire_workspace_id, bellwire_title, bellwire_owner_id)\n'
        '      ::bellwire.resource_entry\n'
        '    from (%s after_table as bellwire_row) as entry), is_insert => %L);\n',
        type, parent_type, row_columns, operation = 'insert')
    end
  where type is not null
$$;

comment on function bellwire.registry_step(text, text, text, text) is
  'Source that registers the rows of a statement, or marks them as deleted.';

revoke all on function bellwire.registry_step(text, text, text, text) from public;
grant execute on function bellwire.registry_step(text, text, text, text) to bellwire_admin;
