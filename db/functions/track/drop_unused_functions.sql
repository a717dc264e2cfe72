-- Drops the generated functions that no trigger uses any more: those of a table that is not tracked now, was dropped, or
-- is tracked as something else.
-- Called by: track(), track_members(), track_users() and untrack(), when the triggers are what they shall be.
-- Errors: none.
create or replace function bellwire.drop_unused_functions()
returns void
language plpgsql
security definer
set search_path = ''
as $$
declare
  unused regprocedure;
begin
  for unused in
    select function.oid
    from pg_catalog.pg_proc as function
    where function.pronamespace = 'bellwire_tracked'::regnamespace
      and not exists (select from pg_catalog.pg_trigger as trigger where trigger.tgfoid = function.oid)
  loop
    -- Somebody else may have dropped it a moment ago.
    execute format('drop function if exists %s', unused);
  end loop;
end
$$;

comment on function bellwire.drop_unused_functions() is 'Drops generated functions without a trigger.';

revoke all on function bellwire.drop_unused_functions() from public;
grant execute on function bellwire.drop_unused_functions() to bellwire_admin;
