-- Uses an invitation up: its membership of the workspace, and of the squad. Somebody who is a member by now keeps their role.
-- Called by: create_account(), accept_invitation(), as bellwire_definer.
-- Errors: none of its own.
create or replace function identity.join_by_invitation(invitation identity.invitations, of_user_id bigint)
returns void
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  update identity.invitations as used set accepted_at = now() where used.id = invitation.id;
  if invitation.workspace_id is not null then
    insert into suite.workspace_members (workspace_id, user_id, role)
    values (invitation.workspace_id, of_user_id, invitation.role)
    on conflict do nothing;
  end if;
  if invitation.squad_id is not null then
    insert into suite.squad_members (squad_id, user_id, role)
    values (invitation.squad_id, of_user_id, invitation.squad_role)
    on conflict do nothing;
  end if;
end
$$;

comment on function identity.join_by_invitation(identity.invitations, bigint) is
  'Makes the memberships of an invitation and marks it as accepted.';

revoke all on function identity.join_by_invitation(identity.invitations, bigint) from public;
