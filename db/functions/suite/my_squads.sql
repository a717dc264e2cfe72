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
begin
  return query
    select scope.ref::bigint
    from bellwire.resources as scope
    where scope.id = any (array(select bellwire.my_scopes(at_least)))
      and scope.type = 'squad'
      and scope.deleted_at is null;
end
$$;

comment on function suite.my_squads(text) is 'Ids of the squads in which the caller has at least the given role.';

revoke all on function suite.my_squads(text) from public;
grant execute on function suite.my_squads(text) to authenticated;
