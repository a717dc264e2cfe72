-- An account for whoever was invited: person, password, memberships and the end of the invitation, all or nothing. The address
-- is the invitation's. The session is opened by the next statement: it proves that all of this was committed.
-- Called by: bellwire_server.
-- Errors: P0002 with detail invitation_gone; 23505 with detail account_exists; 23514 for what is no argon2id hash.
-- Source: reference 001, "POST /api/create-account".
create or replace function identity.create_account(invitation_digest text, new_name text, new_password_hash text)
returns bigint
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  invitation identity.invitations;
  new_user_id bigint;
begin
  invitation := identity.open_invitation(invitation_digest);
  if exists (select from bellwire.users as person where lower(person.email) = lower(invitation.email)) then
    raise exception 'there is an account with this address already'
      using errcode = '23505', detail = 'account_exists', hint = 'Sign in with it, and accept the invitation.';
  end if;
  new_user_id := identity.create_user(new_name, invitation.email, new_password_hash);
  perform identity.become(new_user_id);
  perform identity.join_by_invitation(invitation, new_user_id);
  return new_user_id;
end
$$;

comment on function identity.create_account(text, text, text) is 'Creates an account by invitation; returns its id.';

revoke all on function identity.create_account(text, text, text) from public;
grant execute on function identity.create_account(text, text, text) to bellwire_server;
