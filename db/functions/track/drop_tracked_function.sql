-- Drops one generated trigger function.
-- Called by: forget_table(), after its trigger is gone.
-- Errors: 2BP01 while a trigger still uses it.
create or replace function bellwire.drop_tracked_function(function_name name)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  execute format('drop function bellwire_tracked.%I()', function_name);
end
$$;

comment on function bellwire.drop_tracked_function(name) is 'Drops one generated trigger function.';

revoke all on function bellwire.drop_tracked_function(name) from public;
grant execute on function bellwire.drop_tracked_function(name) to bellwire_admin;
