-- The beginning of every query over rows of a tracked table: the row as it is, and what the registry wants to know of it.
-- A table or transition table, named bellwire_row, is to follow.
-- Called by: generate_tracking() and register_rows().
-- Errors: those of key_expression() and parse_parent().
create or replace function bellwire.tracked_columns(table_name regclass, type text, arguments jsonb)
returns text
language plpgsql
stable
set search_path = ''
as $$
begin
  return format(
    'select bellwire_row.*, (%s)::text as bellwire_ref, (%s)::text as bellwire_parent_ref, '
    '(%s)::bigint as bellwire_workspace_id, (%s)::text as bellwire_title, (%s)::bigint as bellwire_owner_id from ',
    bellwire.key_expression(table_name, type, arguments ->> 'key'),
    coalesce((bellwire.parse_parent(arguments ->> 'parent', type)).expression, 'null'),
    coalesce(arguments ->> 'workspace', 'null'),
    coalesce(arguments ->> 'title', 'null'),
    coalesce(arguments ->> 'owner', 'null'));
end
$$;

comment on function bellwire.tracked_columns(regclass, text, jsonb) is
  'SQL of a tracked row with its key, parent, workspace, title and owner.';

revoke all on function bellwire.tracked_columns(regclass, text, jsonb) from public;
grant execute on function bellwire.tracked_columns(regclass, text, jsonb) to bellwire_admin;
