-- Opens a session for a password that the server has found good, or, where there is a second factor, a step that waits for
-- its code. The password is compared once more, by its hash and under a lock: while the server was busy verifying it, a
-- change of it may have ended every session, and this one must not come after.
-- Called by: bellwire_server.
-- Errors: none; no row when the password is another by now, or the person deactivated.
-- Returns: signed_in or second_factor, and when what was opened ends.
-- Source: reference 001, "Session tokens".
create or replace function identity.sign_in(
  of_user_id bigint,
  verified_hash text,
  token_digest text,
  ip text,
  user_agent text
)
returns table (outcome text, expires_at timestamptz)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
begin
  perform from bellwire.users as person
  where person.id = of_user_id and person.deactivated_at is null
  for share;
  if not found or not exists (
    select from identity.passwords as password
    where password.user_id = of_user_id and password.password_hash = verified_hash)
  then
    return;
  end if;
  if exists (
    select from identity.second_factors as factor
    where factor.user_id = of_user_id and factor.enabled_at is not null)
  then
    outcome := 'second_factor';
    insert into identity.sign_in_steps as step (token_digest, user_id, expires_at)
    values (
      token_digest, of_user_id,
      now() + make_interval(mins => (select value::integer from bellwire.settings where name = 'sign_in_step_minutes')))
    returning step.expires_at into expires_at;
  else
    outcome := 'signed_in';
    expires_at := (
      select opened.expires_at
      from identity.open_session(of_user_id, token_digest, 'local', ip, user_agent) as opened);
  end if;
  return next;
end
$$;

comment on function identity.sign_in(bigint, text, text, text, text) is
  'Opens a session, or the wait for the second factor.';

revoke all on function identity.sign_in(bigint, text, text, text, text) from public;
grant execute on function identity.sign_in(bigint, text, text, text, text) to bellwire_server;
