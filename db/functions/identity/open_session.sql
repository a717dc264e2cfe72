-- One session per sign-in. Takes the digest, never the token.
-- Called by: bellwire_server, after it has verified who it is.
-- Errors: 42501 for a deactivated user; 23514 for what is no digest.
-- Source: reference 001, "Session tokens".
create or replace function identity.open_session(
  user_id bigint,
  token_digest text,
  provider text,
  ip text,
  user_agent text
)
returns table (expires_at timestamptz)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
begin
  if not exists (select from bellwire.users as person where person.id = user_id and person.deactivated_at is null) then
    raise exception 'this account cannot sign in'
      using errcode = '42501', hint = 'It was deactivated; an administrator can undo that.';
  end if;
  insert into identity.sessions as session (user_id, token_digest, provider, ip, user_agent, expires_at)
  values (
    user_id, token_digest, provider, left(ip, 64), left(user_agent, 400),
    now() + make_interval(hours => (select value::integer from bellwire.settings where name = 'session_hours')))
  returning session.expires_at into expires_at;
  return next;
end
$$;

comment on function identity.open_session(bigint, text, text, text, text) is 'Stores a session; returns when it ends.';

revoke all on function identity.open_session(bigint, text, text, text, text) from public;
grant execute on function identity.open_session(bigint, text, text, text, text) to bellwire_server;
