-- The squads in which the caller has at least this role, as keys of suite.squads: what the policies of the suite
-- compare.
-- Called by: policies and api functions, as authenticated.
-- Errors: none.
create or replace function suite.my_squads(at_least text default 'guest')
returns setof bigint
language plpgsql
stable
security definer
set search_path = ''
parallel safe
rows 20
as $$
declare
  caller_id constant bigint := bellwire.current_user_id();
  least_rank constant integer := bellwire.role_rank(at_least);
  squad_ids bigint[];
  squad_id bigint;
  runs_workspace boolean;
begin
  -- What my_scopes() says, for squads: every statement on a table of the suite asks this three times, so members get it
  -- without a look at the registry. Who runs a workspace is left to my_scopes().
  select
    array_agg(membership.scope_ref::bigint)
      filter (where membership.scope_type = 'squad' and bellwire.role_rank(membership.role) >= least_rank),
    bool_or(membership.scope_type = 'workspace' and membership.role in ('owner', 'admin'))
  into squad_ids, runs_workspace
  from bellwire.users as me
  join bellwire.memberships as membership on membership.user_id = me.id
  where me.id = caller_id and me.deactivated_at is null;

  if runs_workspace then
    return query
      select scope.ref::bigint
      from bellwire.resources as scope
      where scope.id = any (array(select bellwire.my_scopes(at_least)))
        and scope.type = 'squad'
        and scope.deleted_at is null;
  elsif squad_ids is not null then
    -- One by one: a query of its own to unnest them costs more.
    foreach squad_id in array squad_ids loop
      return next squad_id;
    end loop;
  end if;
end
$$;

comment on function suite.my_squads(text) is 'Ids of the squads in which the caller has at least the given role.';

revoke all on function suite.my_squads(text) from public;
grant execute on function suite.my_squads(text) to authenticated;
