-- Puts a generated function on its table: a trigger per statement, over the rows of the operation. Runs with the rights
-- of whoever tracks, because creating a trigger needs them on the table.
-- Called by: track() and track_members().
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
begin
  execute format(
    'create trigger %I after %s on %s referencing %s for each statement execute function bellwire_tracked.%I()',
    trigger_prefix || operation,
    operation,
    table_name,
    case operation
      when 'insert' then 'new table as after_table'
      when 'delete' then 'old table as before_table'
      else 'old table as before_table new table as after_table'
    end,
    function_name);
end
$$;

comment on function bellwire.attach_tracked_function(regclass, text, text, text) is
  'Creates the trigger of a generated function.';

revoke all on function bellwire.attach_tracked_function(regclass, text, text, text) from public;
grant execute on function bellwire.attach_tracked_function(regclass, text, text, text) to bellwire_admin;
