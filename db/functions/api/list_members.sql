-- The people of a workspace, by name.
-- Called by: authenticated.
-- Errors: P0002 for a workspace the caller does not see.
create or replace function api.list_members(workspace_id bigint)
returns table (user_id bigint, name text, email text, avatar_url text, role text)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform suite.require_role('workspace', workspace_id, 'guest');
  return query
    select person.id, person.name, person.email, person.avatar_url, membership.role
    from suite.workspace_members as membership
    join bellwire.users as person on person.id = membership.user_id
    where membership.workspace_id = list_members.workspace_id and person.deactivated_at is null
    order by person.name, person.id;
end
$$;

comment on function api.list_members(bigint) is 'Members of a workspace.';

revoke all on function api.list_members(bigint) from public;
grant execute on function api.list_members(bigint) to authenticated;
