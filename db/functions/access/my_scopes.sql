-- The scopes the caller belongs to with at least this role. An owner or admin of a workspace has every scope of it.
-- A set, so that a policy asks once per statement: scope_id = any (array(select bellwire.my_scopes())). plpgsql, because
-- its plans are kept (a SQL function plans at each call before Postgres 18).
-- Called by: policies and api functions, as authenticated.
-- Errors: none; nobody and the deactivated get the empty set.
create or replace function bellwire.my_scopes(at_least text default 'guest')
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
  member_of bigint[];
  runs bigint[];
begin
  select
    array_agg(membership.scope_id) filter (where bellwire.role_rank(membership.role) >= least_rank),
    array_agg(membership.scope_id) filter (where membership.role in ('owner', 'admin'))
  into member_of, runs
  from bellwire.users as me
  join bellwire.memberships as membership on membership.user_id = me.id
  where me.id = caller_id and me.deactivated_at is null;

  return query select unnest(member_of);
  -- Few people run a workspace; the others are spared the look for what is in it.
  if runs is not null then
    return query
      select scope.id
      from bellwire.resources as root
      join bellwire.resources as scope on scope.workspace_id = root.workspace_id and scope.scope_id = scope.id
      where root.id = any (runs)
        and root.parent_id is null
        -- Not the workspace itself: who is its admin is not its owner.
        and scope.id <> root.id;
  end if;
end
$$;

comment on function bellwire.my_scopes(text) is
  'Ids of the scopes in which the caller has at least the given role; an id may come twice.';

revoke all on function bellwire.my_scopes(text) from public;
grant execute on function bellwire.my_scopes(text) to authenticated, bellwire_admin;
