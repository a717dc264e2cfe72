-- Keeps bellwire.memberships in step with an application's own membership table. Rows that are there are taken over.
--
--   select bellwire.track_members('public.team_members', scope => 'team:team_id', member => 'user_id', role => 'role');
--
-- scope is type:expression of the scope's key; member an expression that gives a bellwire.users id; role one of owner,
-- admin, lead, member, guest. A table can be given to track() as well, for actions on the scope.
-- Called by: bellwire_admin with the TRIGGER right on the table, or its owner.
-- Errors: 22023 for what cannot be generated.
create or replace function bellwire.track_members(
  table_name regclass,
  scope text,
  member text,
  role text default '''member'''
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  scope_type text;
  scope_expression text;
  rows_select text;
  base_name constant text := left(replace(table_name::text, '.', '_'), 42) || '_members';
begin
  select parsed.type, parsed.expression into scope_type, scope_expression from bellwire.parse_parent(scope) as parsed;
  perform bellwire.forget_table(table_name, 'bellwire_members_');
  rows_select := format(
    'select (%s)::text as scope_ref, (%s)::bigint as user_id, (%s)::text as role from ', scope_expression, member, role);

  perform bellwire.install_tracked_function(base_name || '_insert', format(
    E'begin\n  perform bellwire.put_members(%L, array(select (member)::bellwire.member_entry from (%s after_table) as member));\n'
    '  return null;\nend', scope_type, rows_select));
  perform bellwire.install_tracked_function(base_name || '_update', format(
    E'begin\n  perform bellwire.drop_members(%1$L, array(select (member)::bellwire.member_entry from (%2$s before_table) as member));\n'
    '  perform bellwire.put_members(%1$L, array(select (member)::bellwire.member_entry from (%2$s after_table) as member));\n'
    '  return null;\nend', scope_type, rows_select));
  perform bellwire.install_tracked_function(base_name || '_delete', format(
    E'begin\n  perform bellwire.drop_members(%L, array(select (member)::bellwire.member_entry from (%s before_table) as member));\n'
    '  return null;\nend', scope_type, rows_select));

  execute format(
    'create trigger bellwire_members_insert after insert on %s referencing new table as after_table '
    'for each statement execute function bellwire_tracked.%I()', table_name, base_name || '_insert');
  execute format(
    'create trigger bellwire_members_update after update on %s referencing old table as before_table '
    'new table as after_table for each statement execute function bellwire_tracked.%I()',
    table_name, base_name || '_update');
  execute format(
    'create trigger bellwire_members_delete after delete on %s referencing old table as before_table '
    'for each statement execute function bellwire_tracked.%I()', table_name, base_name || '_delete');
  execute format(
    'select bellwire.put_members(%L, array(select (member)::bellwire.member_entry from (%s %s) as member))',
    scope_type, rows_select, table_name);
end
$$;

comment on function bellwire.track_members(regclass, text, text, text) is
  'Mirrors an application''s membership table into bellwire.memberships.';

revoke all on function bellwire.track_members(regclass, text, text, text) from public;
grant execute on function bellwire.track_members(regclass, text, text, text) to bellwire_admin;
