-- Puts a generated function on its table and on everything below it: a trigger per statement, over the rows of the
-- operation. A statement fires those of the table it names alone, so that nothing is seen twice. What is there already is
-- left alone: making the functions again needs no lock on the table. Runs with the rights of whoever tracks, because
-- creating a trigger needs them on the table.
-- Called by: generate_tracking(), generate_members() and generate_users().
-- Errors: 42501 without the TRIGGER right on the table.
create or replace function bellwire.attach_tracked_function(
  table_name regclass,
  trigger_prefix text,
  operation text,
  function_name text
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  function_oid constant oid := format('bellwire_tracked.%I()', function_name)::regprocedure;
  member regclass;
begin
  for member in
    select family.member
    from bellwire.table_family(table_name) as family(member)
    where not exists (
      select from pg_catalog.pg_trigger as trigger
      where trigger.tgrelid = family.member
        and trigger.tgname = trigger_prefix || operation
        and trigger.tgfoid = function_oid)
  loop
    execute format(
      'create or replace trigger %I after %s on %s referencing %s for each statement execute function bellwire_tracked.%I()',
      trigger_prefix || operation,
      operation,
      member,
      case operation
        when 'insert' then 'new table as after_table'
        when 'delete' then 'old table as before_table'
        else 'old table as before_table new table as after_table'
      end,
      function_name);
  end loop;
end
$$;

comment on function bellwire.attach_tracked_function(regclass, text, text, text) is
  'Creates the triggers of a generated function.';

revoke all on function bellwire.attach_tracked_function(regclass, text, text, text) from public;
grant execute on function bellwire.attach_tracked_function(regclass, text, text, text) to bellwire_admin;
