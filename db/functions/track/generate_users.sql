-- Makes the trigger functions of a table of people, and takes over the rows that are there.
-- Called by: track_users() and retrack().
-- Errors: 22023 for what cannot be generated; those of read_all_rows().
create or replace function bellwire.generate_users(table_name regclass, arguments jsonb, with_rows boolean)
returns void
language plpgsql
set search_path = ''
as $$
declare
  key constant text := bellwire.key_expression(table_name, 'user', arguments ->> 'id');
  rows_select constant text := format(
    'select (%s)::text as external_id, (%s)::text as name, (%s)::text as email, (%s)::text as avatar_url, '
    '(%s)::boolean as is_active from ',
    key, arguments ->> 'name', arguments ->> 'email', coalesce(arguments ->> 'avatar_url', 'null'),
    coalesce(arguments ->> 'active', 'true'));
  entries constant text := 'array(select (person)::bellwire.user_entry from (%s) as person)';
  refs constant text := '(select array_agg((%s)::text) from %s)';
  put_step constant text := E'  perform bellwire.put_users(' || entries || E');\n';
  was_forced boolean;
begin
  perform bellwire.generate_mirror(
    table_name, 'users', '',
    format(put_step, rows_select || 'after_table'),
    format(E'  perform bellwire.rekey_users(' || refs || ', ' || refs || E');\n', key, 'before_table', key, 'after_table')
      -- Only what differs: most updates change another column.
      || format(put_step, format('%1$s after_table except %1$s before_table', rows_select)),
    format(E'  perform bellwire.deactivate_users(' || refs || E');\n', key, 'before_table'));
  if with_rows then
    was_forced := bellwire.read_all_rows(table_name);
    execute format('select bellwire.put_users(' || entries || ')', rows_select || table_name);
    if was_forced then
      execute format('alter table %s force row level security', table_name);
    end if;
  end if;
end
$$;

comment on function bellwire.generate_users(regclass, jsonb, boolean) is
  'Makes the functions and triggers of a table of people.';

revoke all on function bellwire.generate_users(regclass, jsonb, boolean) from public;
grant execute on function bellwire.generate_users(regclass, jsonb, boolean) to bellwire_admin;
