-- The workspaces the caller belongs to with at least this role.
-- Called by: policies and api functions, as authenticated.
-- Errors: none.
create or replace function bellwire.my_workspaces(at_least text default 'guest')
returns setof bigint
language sql
stable
security definer
set search_path = ''
parallel safe
rows 5
as $$
  select root.workspace_id
  from bellwire.memberships as membership
  join bellwire.users as me on me.id = membership.user_id and me.deactivated_at is null
  join bellwire.resources as root on root.id = membership.scope_id and root.parent_id is null
  where membership.user_id = bellwire.current_user_id()
    and bellwire.role_rank(membership.role) >= bellwire.role_rank(at_least)
$$;

comment on function bellwire.my_workspaces(text) is
  'Ids of the workspaces in which the caller has at least the given role.';

revoke all on function bellwire.my_workspaces(text) from public;
grant execute on function bellwire.my_workspaces(text) to authenticated, bellwire_admin;
