-- The address that begin_email_change() kept, for the right code. Wrong ones are counted, which is why they are an answer and
-- no error.
-- Called by: bellwire_server.
-- Errors: 28000 when the session is gone; P0002 with detail email_change_gone; those of change_credentials().
-- Returns: one row; its user_id is null for a wrong code.
create or replace function identity.confirm_email_change(caller_digest text, typed_digest text, session_digest text)
returns table (user_id bigint, name text, old_email text, email text, expires_at timestamptz, ended text[])
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  person bellwire.users;
  change identity.email_changes;
begin
  person := identity.lock_person((
    select session.user_id
    from identity.sessions as session
    where session.token_digest = caller_digest and session.expires_at > now()));
  if person.id is null then
    raise exception 'this session has ended'
      using errcode = '28000', hint = 'Sign in again; nothing was changed.';
  end if;
  select waiting.* into change
  from identity.email_changes as waiting
  where waiting.user_id = person.id
    and waiting.expires_at > now()
    and waiting.attempts < (select value from bellwire.settings where settings.name = 'code_attempts')
  for update;
  if change.user_id is null then
    raise exception 'there is no change of address to confirm'
      using errcode = 'P0002', detail = 'email_change_gone',
        hint = 'Ask for a new code: this one is too old, or was tried too often.';
  end if;
  if change.code_digest <> typed_digest then
    update identity.email_changes as waiting set attempts = waiting.attempts + 1 where waiting.user_id = person.id;
    return next;
    return;
  end if;
  return query select * from identity.change_credentials(caller_digest, session_digest, change.new_email, null);
end
$$;

comment on function identity.confirm_email_change(text, text, text) is
  'Changes the address for a right code, or counts a wrong one.';

revoke all on function identity.confirm_email_change(text, text, text) from public;
grant execute on function identity.confirm_email_change(text, text, text) to bellwire_server;
