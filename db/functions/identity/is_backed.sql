-- Whether whoever made an invitation could make it now.
-- Called by: open_invitation(), as bellwire_definer.
-- Errors: none.
create or replace function identity.is_backed(invitation identity.invitations)
returns boolean
language plpgsql
stable
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  if invitation.invited_by is null then
    return (select value = 1 from bellwire.settings where name = 'open_sign_up');
  end if;
  return exists (
    select
    from bellwire.users as inviter
    left join suite.workspace_members as membership
      on membership.user_id = inviter.id and membership.workspace_id = invitation.workspace_id
    where inviter.id = invitation.invited_by
      and inviter.deactivated_at is null
      and case
        when invitation.workspace_id is null then inviter.is_admin
        when invitation.role = 'owner' then membership.role = 'owner'
        else membership.role in ('owner', 'admin')
      end);
end
$$;

comment on function identity.is_backed(identity.invitations) is
  'Whether an invitation still has somebody who may give it.';

revoke all on function identity.is_backed(identity.invitations) from public;
