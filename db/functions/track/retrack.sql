-- Makes again what track(), track_members() and track_users() made, from the arguments they were called with: after an
-- upgrade, when a partition was attached or detached, when rows came and went unseen. What cannot be made is reported and
-- noted in rule_failures; it goes on with what it had, and the others are made all the same.
-- Called by: bellwire_admin with the rights on the tables; the migration, without the rows, when the generator has changed.
-- Errors: none of its own.
-- Returns: one row per call; problem is null where it went well.
create or replace function bellwire.retrack(only_table regclass default null, with_rows boolean default true)
returns table (table_name regclass, call text, problem text)
language plpgsql
set search_path = ''
as $$
declare
  tracked record;
begin
  for tracked in
    select known.table_name, known.call, known.type, known.arguments
    from bellwire.tracked_tables as known
    join pg_catalog.pg_class as class on class.oid = known.table_name
    where only_table is null or known.table_name = only_table
    -- People before what names them, parents before their children.
    order by known.call = 'users' desc, known.created_at, known.table_name, known.call
  loop
    table_name := tracked.table_name;
    call := tracked.call;
    problem := null;
    begin
      if tracked.call = 'users' then
        perform bellwire.generate_users(tracked.table_name, tracked.arguments, with_rows);
      elsif tracked.call = 'members' then
        perform bellwire.generate_members(tracked.table_name, tracked.arguments, with_rows);
      else
        perform bellwire.generate_tracking(tracked.table_name, tracked.type, tracked.arguments);
        if with_rows and tracked.type is not null then
          perform bellwire.register_rows(tracked.table_name, tracked.type, tracked.arguments);
        end if;
      end if;
    exception when others then
      problem := concat_ws(' ', sqlerrm, '(' || sqlstate || ')');
      perform bellwire.note_failure(left('retrack ' || tracked.table_name, 63), sqlstate, sqlerrm);
    end;
    return next;
  end loop;
end
$$;

comment on function bellwire.retrack(regclass, boolean) is
  'Makes the triggers of tracked tables again; null for every table.';

revoke all on function bellwire.retrack(regclass, boolean) from public;
grant execute on function bellwire.retrack(regclass, boolean) to bellwire_admin;
