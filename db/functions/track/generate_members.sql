-- Makes the trigger functions of a membership table, and takes over the rows that are there.
-- Called by: track_members() and retrack().
-- Errors: 22023 for what cannot be generated; those of read_all_rows().
create or replace function bellwire.generate_members(table_name regclass, arguments jsonb, with_rows boolean)
returns void
language plpgsql
set search_path = ''
as $$
declare
  scope constant record := bellwire.parse_parent(arguments ->> 'scope', null);
  rows_select constant text := format(
    'select (%s)::text as scope_ref, (%s)::bigint as user_id, (%s)::text as role from ',
    scope.expression, arguments ->> 'member', arguments ->> 'role');
  entries constant text := 'array(select (member)::bellwire.member_entry from (%s) as member)';
  put_step constant text := E'  perform bellwire.put_members(%L, ' || entries || E');\n';
  drop_step constant text := E'  perform bellwire.drop_members(%L, ' || entries || E');\n';
  after_rows constant text := rows_select || 'after_table';
  before_rows constant text := rows_select || 'before_table';
  was_forced boolean;
begin
  if scope.type is null then
    raise exception 'members need a scope'
      using errcode = '22023', hint = 'Written type:expression, for example team:team_id.';
  end if;
  perform bellwire.generate_mirror(
    table_name, 'members', scope.type,
    format(put_step, scope.type, after_rows),
    -- Only what differs: most updates change another column.
    format(drop_step, scope.type, format(
      'select gone.scope_ref, gone.user_id, null::text as role from '
      '(select scope_ref, user_id from (%s) as b except select scope_ref, user_id from (%s) as a) as gone',
      before_rows, after_rows))
      || format(put_step, scope.type, format('%s except %s', after_rows, before_rows)),
    format(drop_step, scope.type, before_rows));
  if with_rows then
    was_forced := bellwire.read_all_rows(table_name);
    execute format('select bellwire.put_members(%L, ' || entries || ')', scope.type, rows_select || table_name);
    if was_forced then
      execute format('alter table %s force row level security', table_name);
    end if;
  end if;
end
$$;

comment on function bellwire.generate_members(regclass, jsonb, boolean) is
  'Makes the functions and triggers of a membership table.';

revoke all on function bellwire.generate_members(regclass, jsonb, boolean) from public;
grant execute on function bellwire.generate_members(regclass, jsonb, boolean) to bellwire_admin;
