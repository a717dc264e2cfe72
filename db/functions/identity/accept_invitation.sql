-- An invitation for the account somebody is signed in with. It has to be the account of the address that was invited: a link that
-- was passed on lets nobody else in.
-- Called by: bellwire_server.
-- Errors: 28000; P0002 with detail invitation_gone; 42501 with detail other_address.
create or replace function identity.accept_invitation(caller_id bigint, token_digest text)
returns table (workspace_id bigint, squad_id bigint)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  invitation identity.invitations;
begin
  perform identity.become(caller_id);
  invitation := identity.open_invitation(token_digest);
  if not exists (
    select from bellwire.users as person
    where person.id = caller_id and lower(person.email) = lower(invitation.email))
  then
    raise exception 'this invitation is for another address'
      using errcode = '42501', detail = 'other_address', hint = 'Sign in with the account of that address.';
  end if;
  perform identity.join_by_invitation(invitation, caller_id);
  workspace_id := invitation.workspace_id;
  squad_id := invitation.squad_id;
  return next;
end
$$;

comment on function identity.accept_invitation(bigint, text) is 'Accepts an invitation with an account there is.';

revoke all on function identity.accept_invitation(bigint, text) from public;
grant execute on function identity.accept_invitation(bigint, text) to bellwire_server;
