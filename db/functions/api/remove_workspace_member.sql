-- Ends a membership of a workspace, and with it those of its squads. Everybody may leave; an admin removes others.
-- Called by: authenticated.
-- Errors: P0002 unknown workspace or not a member; 42501 for less than an admin; 22023 for the last owner.
create or replace function api.remove_workspace_member(workspace_id bigint, user_id bigint)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform suite.require_role(
    'workspace', workspace_id, case when user_id = bellwire.current_user_id() then 'guest' else 'admin' end);
  perform suite.keep_an_owner(workspace_id, user_id, null);
  delete from suite.squad_members as membership
  using suite.squads as squad
  where squad.workspace_id = remove_workspace_member.workspace_id
    and membership.squad_id = squad.id
    and membership.user_id = remove_workspace_member.user_id;
  delete from suite.workspace_members as membership
  where membership.workspace_id = remove_workspace_member.workspace_id
    and membership.user_id = remove_workspace_member.user_id;
  if not found then
    raise exception 'this person is not a member'
      using errcode = 'P0002', hint = 'The list of members shows who is.';
  end if;
end
$$;

comment on function api.remove_workspace_member(bigint, bigint) is 'Ends a membership of a workspace.';

revoke all on function api.remove_workspace_member(bigint, bigint) from public;
grant execute on function api.remove_workspace_member(bigint, bigint) to authenticated;
