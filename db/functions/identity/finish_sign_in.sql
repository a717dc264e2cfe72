-- The second step of a sign-in. The server says which time step the code belongs to, if any, and what it would be as a
-- recovery code; whether that counts is decided here.
-- Called by: bellwire_server.
-- Errors: none.
-- Returns: signed_in, wrong, paused (too many wrong codes of this account), or gone (too late, too many, or the password
-- was changed).
create or replace function identity.finish_sign_in(
  step_digest text,
  matched_step bigint,
  code_digest text,
  session_digest text,
  ip text,
  user_agent text
)
returns table (outcome text, expires_at timestamptz)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  found_user_id bigint;
begin
  outcome := 'gone';
  select waiting.user_id into found_user_id
  from identity.sign_in_steps as waiting
  where waiting.token_digest = step_digest;
  -- The person first, as whoever ends their sign-ins does it.
  perform from bellwire.users as person where person.id = found_user_id and person.deactivated_at is null for share;
  if not found then
    return next;
    return;
  end if;
  perform from identity.sign_in_steps as waiting
  where waiting.token_digest = step_digest
    and waiting.expires_at > now()
    and waiting.attempts < (select value from bellwire.settings where name = 'code_attempts')
  for update;
  if not found then
    return next;
    return;
  end if;
  outcome := identity.check_second_factor(found_user_id, matched_step, code_digest);
  if outcome = 'right' then
    outcome := 'signed_in';
    delete from identity.sign_in_steps as waiting where waiting.token_digest = step_digest;
    expires_at := (
      select opened.expires_at
      from identity.open_session(found_user_id, session_digest, 'local', ip, user_agent) as opened);
  elsif outcome = 'wrong' then
    update identity.sign_in_steps as waiting set attempts = waiting.attempts + 1 where waiting.token_digest = step_digest;
  end if;
  return next;
end
$$;

comment on function identity.finish_sign_in(text, bigint, text, text, text, text) is
  'Ends the wait for the second factor with a session, or counts a wrong code.';

revoke all on function identity.finish_sign_in(text, bigint, text, text, text, text) from public;
grant execute on function identity.finish_sign_in(text, bigint, text, text, text, text) to bellwire_server;
