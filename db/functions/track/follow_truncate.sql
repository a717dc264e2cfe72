-- Trigger function: TRUNCATE of a tracked table, or by CASCADE from another one. It shows no rows, so no activity is
-- recorded. What was registered is marked as deleted, memberships end. Of one partition, or of a table of people, nobody
-- can say any more what was in it: that is noted in rule_failures.
-- Called by: trigger bellwire_…_truncate, whose arguments are the call and the type.
-- Errors: none; a failure lands in rule_failures.
create or replace function bellwire.follow_truncate()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  of_call constant text := tg_argv[0];
  of_type constant text := tg_argv[1];
  -- What is tracked is never below another table.
  above constant oid := (select inhparent from pg_catalog.pg_inherits where inhrelid = tg_relid limit 1);
  is_whole constant boolean := above is null;
  tracked_table constant regclass := coalesce(above, tg_relid);
  problem text;
begin
  if of_call = 'track' and is_whole then
    update bellwire.resources as resource set deleted_at = now()
    where resource.type = of_type and resource.deleted_at is null;
  elsif of_call = 'track' then
    -- Where the whole table was truncated, its own trigger came first.
    if exists (select from bellwire.resources as resource where resource.type = of_type and resource.deleted_at is null) then
      problem := 'its rows are still registered';
    end if;
  elsif of_call = 'members' and is_whole and not exists (
    select from bellwire.tracked_tables as other
    where other.call = 'members' and other.table_name <> tg_relid
      and split_part(other.arguments ->> 'scope', ':', 1) = of_type)
  then
    delete from bellwire.waiting_members as waiting where waiting.scope_type = of_type;
    delete from bellwire.memberships as membership
    using bellwire.resources as scope
    where scope.id = membership.scope_id and scope.type = of_type;
  elsif of_call = 'members' then
    problem := 'its members still belong to their scopes';
  elsif is_whole then
    problem := 'its people are still active';
  end if;
  if problem is not null then
    perform bellwire.fail_rule(
      left('track ' || tracked_table, 63), null, '01000', format('%s was truncated: %s', tg_relid::regclass, problem),
      format('select * from bellwire.retrack(%L); DELETE is followed row by row', tracked_table));
  end if;
  return null;
exception when others then
  perform bellwire.fail_rule(left('track ' || tracked_table, 63), null, sqlstate, sqlerrm, 'truncate');
  return null;
end
$$;

comment on function bellwire.follow_truncate() is 'Brings the registry in step with a truncated table.';

revoke all on function bellwire.follow_truncate() from public;
grant execute on function bellwire.follow_truncate() to bellwire_admin;
