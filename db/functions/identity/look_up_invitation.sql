-- What an invitation is for, for the page that its link opens.
-- Called by: bellwire_server, for anyone: the token is the authorisation.
-- Errors: P0002 with detail invitation_gone.
-- Returns: has_account says whether to sign in or to choose a password.
create or replace function identity.look_up_invitation(token_digest text)
returns table (
  email text,
  workspace_name text,
  role text,
  squad_name text,
  invited_by text,
  expires_at timestamptz,
  has_account boolean
)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  invitation identity.invitations;
begin
  invitation := identity.open_invitation(token_digest);
  return query
    select
      invitation.email,
      (select workspace.name from bellwire.workspaces as workspace where workspace.id = invitation.workspace_id),
      invitation.role,
      (select squad.name from suite.squads as squad where squad.id = invitation.squad_id),
      (select person.name from bellwire.users as person where person.id = invitation.invited_by),
      invitation.expires_at,
      exists (select from bellwire.users as person where lower(person.email) = lower(invitation.email));
end
$$;

comment on function identity.look_up_invitation(text) is 'What an open invitation is for.';

revoke all on function identity.look_up_invitation(text) from public;
grant execute on function identity.look_up_invitation(text) to bellwire_server;
