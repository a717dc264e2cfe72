-- Makes a generated trigger function, owned by bellwire_definer so that it may write the engine's tables. The body
-- comes from track() and contains expressions of the administrator who tracks: whoever may call this may run SQL as
-- bellwire_definer, so bellwire_admin is a trusted role.
-- Called by: generate_tracking(), generate_members() and generate_users(), as bellwire_admin or the owner; tracker is the
-- role that makes the triggers.
-- Errors: 42601 and friends when an expression does not parse.
create or replace function bellwire.install_tracked_function(function_name text, body text, tracker name)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  execute format(
    'create or replace function bellwire_tracked.%I() returns trigger language plpgsql security definer '
    -- Everything a rule runs, runs below this function. Left to itself the planner makes a new plan at every call, because
    -- it knows the length of the arrays that are handed around; planning then takes three times as long as the work. A
    -- kept plan, made while a table was nearly empty, must not read it from end to end when it has grown; one made for
    -- a large statement must not be compiled for every small one (7 ms each on Postgres 15 with LLVM).
    'set search_path = '''' set plan_cache_mode = ''force_generic_plan'' set enable_seqscan = off set jit = off as %L',
    function_name, body);
  execute format('revoke all on function bellwire_tracked.%I() from public', function_name);
  execute format('grant execute on function bellwire_tracked.%I() to %I', function_name, tracker);
end
$$;

comment on function bellwire.install_tracked_function(text, text, name) is
  'Creates or replaces one generated trigger function.';

revoke all on function bellwire.install_tracked_function(text, text, name) from public;
grant execute on function bellwire.install_tracked_function(text, text, name) to bellwire_admin;
