-- Removes the triggers and generated functions of a table, if it is tracked. What was recorded stays.
-- Called by: track(), track_members() and untrack(); needs the rights of the table's owner.
-- Errors: none of its own.
-- Returns: whether it was tracked.
create or replace function bellwire.forget_table(of_table regclass, trigger_prefix text)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  generated record;
  is_known boolean := false;
begin
  for generated in
    select trigger.tgname as trigger_name, function.proname as function_name
    from pg_catalog.pg_trigger as trigger
    join pg_catalog.pg_proc as function on function.oid = trigger.tgfoid
    where trigger.tgrelid = of_table
      and trigger.tgparentid = 0
      and starts_with(trigger.tgname, trigger_prefix)
      and function.pronamespace = 'bellwire_tracked'::regnamespace
  loop
    execute format('drop trigger %I on %s', generated.trigger_name, of_table);
    perform bellwire.drop_tracked_function(generated.function_name);
    is_known := true;
  end loop;
  return is_known;
end
$$;

comment on function bellwire.forget_table(regclass, text) is 'Drops what track() made for a table.';

revoke all on function bellwire.forget_table(regclass, text) from public;
grant execute on function bellwire.forget_table(regclass, text) to bellwire_admin;
