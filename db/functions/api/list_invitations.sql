-- Open invitations to a workspace, or to the installation alone, in the order they were first made.
-- Called by: authenticated.
-- Errors: P0002 for a workspace the caller does not see; 42501 for less than an admin of it, or of the installation.
create or replace function api.list_invitations(of_workspace_id bigint, after_id bigint, max_count integer)
returns table (
  id bigint,
  email text,
  workspace_id bigint,
  role text,
  squad_id bigint,
  squad_role text,
  invited_by text,
  created_at timestamptz,
  expires_at timestamptz
)
language plpgsql
stable
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  if of_workspace_id is null then
    perform identity.require_admin();
  else
    perform suite.require_role('workspace', of_workspace_id, 'admin');
  end if;
  return query
    select
      invitation.id, invitation.email, invitation.workspace_id, invitation.role, invitation.squad_id, invitation.squad_role,
      inviter.name, invitation.created_at, invitation.expires_at
    from identity.invitations as invitation
    join bellwire.users as inviter on inviter.id = invitation.invited_by
    where invitation.workspace_id is not distinct from of_workspace_id
      and invitation.accepted_at is null
      and invitation.revoked_at is null
      and invitation.expires_at > now()
      and invitation.id > after_id
    order by invitation.id
    limit max_count;
end
$$;

comment on function api.list_invitations(bigint, bigint, integer) is 'Open invitations.';

revoke all on function api.list_invitations(bigint, bigint, integer) from public;
grant execute on function api.list_invitations(bigint, bigint, integer) to authenticated;
