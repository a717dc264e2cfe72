-- Removes the triggers that a tracked table, and everything below it, does not need any more. Also those of a partition that
-- was detached since. The generated functions go with drop_unused_functions(). What was recorded stays.
-- Called by: track(), track_members(), track_users() and untrack(); needs the rights of the tables' owner.
-- Errors: none of its own.
-- Returns: whether there were any.
create or replace function bellwire.forget_table(of_table regclass, trigger_prefix text, kept_functions text[])
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  unneeded record;
  is_known boolean := false;
begin
  for unneeded in
    with ours as (
      select trigger.tgrelid, trigger.tgname, function.oid as function_oid, function.proname, function.pronamespace::regnamespace::text
      from pg_catalog.pg_trigger as trigger
      join pg_catalog.pg_proc as function on function.oid = trigger.tgfoid
      where trigger.tgparentid = 0
        and starts_with(trigger.tgname, trigger_prefix)
        and function.pronamespace in ('bellwire_tracked'::regnamespace, 'bellwire'::regnamespace)
    ),
    family as (
      select member from bellwire.table_family(of_table) as member
    )
    select ours.tgrelid::regclass as table_name, ours.tgname as trigger_name
    from ours
    where ours.tgrelid in (select member from family)
        and not (ours.proname = any (kept_functions))
      -- A generated function belongs to one table: where else it is attached, a partition was detached.
      or ours.tgrelid not in (select member from family)
        and ours.tgrelid in (
          select detached.tgrelid
          from ours as detached
          join ours as own on own.function_oid = detached.function_oid and own.tgrelid = of_table
          where detached.pronamespace = 'bellwire_tracked')
  loop
    execute format('drop trigger %I on %s', unneeded.trigger_name, unneeded.table_name);
    is_known := true;
  end loop;
  return is_known;
end
$$;

comment on function bellwire.forget_table(regclass, text, text[]) is 'Drops the triggers of a table but those of these functions.';

revoke all on function bellwire.forget_table(regclass, text, text[]) from public;
grant execute on function bellwire.forget_table(regclass, text, text[]) to bellwire_admin;
