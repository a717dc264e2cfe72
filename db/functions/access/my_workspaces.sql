-- The workspaces the caller belongs to with at least this role.
-- Called by: policies and api functions, as authenticated.
-- Errors: none.
create or replace function bellwire.my_workspaces(at_least text default 'guest')
returns setof bigint
language plpgsql
stable
security definer
set search_path = ''
parallel safe
rows 5
as $$
declare
  caller_id constant bigint := bellwire.current_user_id();
  least_rank constant integer := bellwire.role_rank(at_least);
begin
  return query
    select root.workspace_id
    from bellwire.users as me
    join bellwire.memberships as membership on membership.user_id = me.id
    join bellwire.resources as root on root.id = membership.scope_id and root.parent_id is null
    where me.id = caller_id
      and me.deactivated_at is null
      and bellwire.role_rank(membership.role) >= least_rank;
end
$$;

comment on function bellwire.my_workspaces(text) is
  'Ids of the workspaces in which the caller has at least the given role.';

revoke all on function bellwire.my_workspaces(text) from public;
grant execute on function bellwire.my_workspaces(text) to authenticated, bellwire_admin;
