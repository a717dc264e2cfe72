-- Sets the password a link was sent for, once, and ends every session: whoever forgot it was perhaps not the one who changed
-- it.
-- Called by: bellwire_server.
-- Errors: P0002 with detail reset_gone.
-- Returns: whom to tell, and the digests that have ended, for their sockets.
create or replace function identity.reset_password(token_digest text, new_hash text)
returns table (name text, email text, ended text[])
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  person bellwire.users;
begin
  person := identity.lock_person((
    select waiting.user_id from identity.password_resets as waiting where waiting.token_digest = reset_password.token_digest));
  delete from identity.password_resets as waiting
  where waiting.token_digest = reset_password.token_digest and waiting.user_id = person.id and waiting.expires_at > now();
  if not found then
    raise exception 'this link does not work any more'
      using errcode = 'P0002', detail = 'reset_gone', hint = 'Ask for a new one.';
  end if;
  perform identity.set_password(person.id, new_hash);
  ended := identity.end_sign_ins(person.id);
  name := person.name;
  email := person.email;
  return next;
end
$$;

comment on function identity.reset_password(text, text) is
  'Sets a password by the link that was sent, and ends all sessions.';

revoke all on function identity.reset_password(text, text) from public;
grant execute on function identity.reset_password(text, text) to bellwire_server;
