-- The invitation of a token, locked, if it still holds: not used, not taken back, not too old, and made by somebody who could
-- still make it. What an admin sent before they were one no longer must not make them, or a friend of theirs, an owner.
-- Called by: functions of identity, as bellwire_definer.
-- Errors: P0002 with detail invitation_gone.
create or replace function identity.open_invitation(of_token_digest text)
returns identity.invitations
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  invitation identity.invitations;
begin
  select candidate.* into invitation
  from identity.invitations as candidate
  where candidate.token_digest = of_token_digest
    and candidate.accepted_at is null
    and candidate.revoked_at is null
    and candidate.expires_at > now()
  for update;
  if invitation.id is null or not identity.is_backed(invitation) then
    raise exception 'this invitation is not valid any more'
      using errcode = 'P0002', detail = 'invitation_gone', hint = 'It was used, taken back or too old: ask for a new one.';
  end if;
  return invitation;
end
$$;

comment on function identity.open_invitation(text) is 'Locks an open invitation; raises when there is none.';

revoke all on function identity.open_invitation(text) from public;
