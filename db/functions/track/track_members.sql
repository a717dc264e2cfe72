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
  put_step constant text :=
    E'  perform bellwire.put_members(%L, array(\n'
    '    select (member)::bellwire.member_entry from (%s after_table) as member));\n';
  drop_step constant text :=
    E'  perform bellwire.drop_members(%L, array(\n'
    '    select (member)::bellwire.member_entry from (%s before_table) as member));\n';
  operation text;
  function_name text;
  base_name constant text := bellwire.tracked_name(table_name, null) || '_members';
begin
  select parsed.type, parsed.expression into scope_type, scope_expression from bellwire.parse_parent(scope, null) as parsed;
  perform bellwire.forget_table(table_name, 'bellwire_members_');
  rows_select := format(
    'select (%s)::text as scope_ref, (%s)::bigint as user_id, (%s)::text as role from ', scope_expression, member, role);

  foreach operation in array array['insert', 'update', 'delete'] loop
    function_name := base_name || '_' || operation;
    perform bellwire.install_tracked_function(
      function_name,
      E'begin\n'
      || case when operation <> 'insert' then format(drop_step, scope_type, rows_select) else '' end
      || case when operation <> 'delete' then format(put_step, scope_type, rows_select) else '' end
      || E'  return null;\nend',
      current_user);
    perform bellwire.attach_tracked_function(table_name, 'bellwire_members_', operation, function_name);
  end loop;
  execute format(
    'select bellwire.put_members(%L, array(select (member)::bellwire.member_entry from (%s %s) as member))',
    scope_type, rows_select, table_name);
end
$$;

comment on function bellwire.track_members(regclass, text, text, text) is
  'Mirrors an application''s membership table into bellwire.memberships.';

revoke all on function bellwire.track_members(regclass, text, text, text) from public;
grant execute on function bellwire.track_members(regclass, text, text, text) to bellwire_admin;
