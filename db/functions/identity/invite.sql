-- Invites an address to the installation, or to a workspace and a squad of it. Whether there is an account is not said: who has
-- one accepts with it. Inviting again renews the invitation, and its last link is void.
-- Called by: bellwire_server, for a person who is signed in: here and not in api, because who knows the token could be
-- anybody's address.
-- Errors: 28000; P0002 for a workspace or squad the caller does not see; 42501 for less than an admin of the workspace, for
-- less than an owner who would make one, and for an invitation to nothing but the installation by anybody but its
-- administrators; 22023 for unknown roles; 23505 with detail already_member or account_exists; 54000 with detail
-- invitation_limit.
-- Returns: the invitation, and what its letter says.
create or replace function identity.invite(
  caller_id bigint,
  to_email text,
  to_workspace_id bigint,
  to_role text,
  to_squad_id bigint,
  to_squad_role text,
  new_token_digest text
)
returns table (
  id bigint,
  email text,
  workspace_id bigint,
  role text,
  squad_id bigint,
  squad_role text,
  invited_by text,
  created_at timestamptz,
  expires_at timestamptz,
  workspace_name text
)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  made identity.invitations;
begin
  perform identity.become(caller_id);
  perform identity.check_invitation(to_email, to_workspace_id, to_role, to_squad_id, to_squad_role);
  perform identity.count_invitations(caller_id);
  insert into identity.invitations as invitation
    (email, workspace_id, role, squad_id, squad_role, token_digest, invited_by, expires_at)
  values (
    to_email, to_workspace_id, to_role, to_squad_id, to_squad_role, new_token_digest, caller_id,
    now() + make_interval(hours => (select value::integer from bellwire.settings where name = 'invitation_hours')))
  on conflict (lower(email), coalesce(workspace_id, 0), (invited_by is null)) where accepted_at is null and revoked_at is null
  do update
  set email = excluded.email, role = excluded.role, squad_id = excluded.squad_id, squad_role = excluded.squad_role,
      token_digest = excluded.token_digest, invited_by = excluded.invited_by, sent_count = invitation.sent_count + 1,
      created_at = now(), expires_at = excluded.expires_at
  returning invitation.* into made;
  return query
    select
      made.id, made.email, made.workspace_id, made.role, made.squad_id, made.squad_role,
      (select person.name from bellwire.users as person where person.id = caller_id), made.created_at, made.expires_at,
      (select workspace.name from bellwire.workspaces as workspace where workspace.id = made.workspace_id);
end
$$;

comment on function identity.invite(bigint, text, bigint, text, bigint, text, text) is 'Makes or renews an invitation.';

revoke all on function identity.invite(bigint, text, bigint, text, bigint, text, text) from public;
grant execute on function identity.invite(bigint, text, bigint, text, bigint, text, text) to bellwire_server;
