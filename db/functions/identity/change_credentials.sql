-- Changes the address or the password of whoever holds a session, ends every session they have, that one included, and opens
-- its replacement: all or nothing. A sign-out that comes first wins: nothing is changed and no session made. One that comes
-- after reaches the replacement (close_session()).
-- Called by: bellwire_server, which has checked the present password; confirm_email_change().
-- Errors: 28000 when the session is gone; 23505 with detail email_taken; 22023 with detail managed_elsewhere.
-- Returns: who, the address before and after, when the replacement ends, and the digests that have ended, for their sockets.
-- Source: reference 001, "Rotation".
create or replace function identity.change_credentials(
  caller_digest text,
  session_digest text,
  new_email text,
  new_password_hash text
)
returns table (user_id bigint, name text, old_email text, email text, expires_at timestamptz, ended text[])
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  person bellwire.users;
  caller identity.sessions;
begin
  person := identity.lock_person((
    select session.user_id from identity.sessions as session where session.token_digest = caller_digest));
  select session.* into caller
  from identity.sessions as session
  where session.token_digest = caller_digest and session.user_id = person.id and session.expires_at > now()
  for update;
  if caller.token_digest is null then
    raise exception 'this session has ended'
      using errcode = '28000', hint = 'Sign in again; nothing was changed.';
  end if;
  perform identity.change_email(person, new_email);
  if new_password_hash is not null then
    perform identity.set_password(person.id, new_password_hash);
  end if;
  ended := identity.end_sign_ins(person.id);
  insert into identity.sessions as session
    (token_digest, user_id, provider, ip, user_agent, signed_in_at, rotated_from, expires_at)
  values (
    session_digest, person.id, caller.provider, caller.ip, caller.user_agent, caller.signed_in_at, caller_digest,
    -- The end of a session of another provider is that provider's.
    case when caller.provider = 'local'
      then now() + make_interval(hours => (select value::integer from bellwire.settings where settings.name = 'session_hours'))
      else caller.expires_at
    end)
  returning session.expires_at into expires_at;
  user_id := person.id;
  name := person.name;
  old_email := person.email;
  email := coalesce(new_email, person.email);
  return next;
end
$$;

comment on function identity.change_credentials(text, text, text, text) is
  'Changes address or password and replaces every session by one.';

revoke all on function identity.change_credentials(text, text, text, text) from public;
grant execute on function identity.change_credentials(text, text, text, text) to bellwire_server;
