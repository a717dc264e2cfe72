-- Takes an open invitation back: its link does nothing from then on.
-- Called by: authenticated, whoever may see it in the list.
-- Errors: P0002 for one that is not open, or not for the caller to see.
create or replace function api.revoke_invitation(id bigint)
returns void
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  update identity.invitations as invitation
  set revoked_at = now()
  where invitation.id = revoke_invitation.id
    and invitation.invited_by is not null
    and invitation.accepted_at is null
    and invitation.revoked_at is null
    and case
      when invitation.workspace_id is null then exists (
        select from bellwire.users as person
        where person.id = bellwire.current_user_id() and person.is_admin and person.deactivated_at is null)
      else exists (
        select from bellwire.resources as workspace
        where workspace.type = 'workspace'
          and workspace.ref = invitation.workspace_id::text
          and workspace.id in (select bellwire.my_scopes('admin')))
    end;
  if not found then
    raise exception 'there is no such open invitation'
      using errcode = 'P0002', hint = 'It was accepted or taken back already.';
  end if;
end
$$;

comment on function api.revoke_invitation(bigint) is 'Revokes an invitation.';

revoke all on function api.revoke_invitation(bigint) from public;
grant execute on function api.revoke_invitation(bigint) to authenticated;
