-- Keeps another address until the code sent to the present one was typed: the way for who has no password to show. Whether
-- somebody has that address is not said before the code was.
-- Called by: bellwire_server.
-- Errors: 28000 for somebody deactivated; 22023 with detail managed_elsewhere, or password_needed for who has a password;
-- 54000 with detail too_soon.
-- Returns: whom to send the code, and when it ends.
create or replace function identity.begin_email_change(of_user_id bigint, to_email text, new_code_digest text)
returns table (name text, email text, expires_at timestamptz)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  person bellwire.users;
begin
  person := identity.lock_person(of_user_id);
  if person.id is null then
    raise exception 'this account is not active'
      using errcode = '28000', hint = 'Sign in again.';
  end if;
  if person.external_id is not null then
    raise exception 'this account is kept by your application'
      using errcode = '22023', detail = 'managed_elsewhere', hint = 'Change the address there.';
  end if;
  if exists (select from identity.passwords as password where password.user_id = of_user_id) then
    raise exception 'this needs your present password'
      using errcode = '22023', detail = 'password_needed', hint = 'Send it as currentPassword.';
  end if;
  insert into identity.email_changes as change (user_id, new_email, code_digest, expires_at)
  values (
    of_user_id, to_email, new_code_digest,
    now() + make_interval(mins => (select value::integer from bellwire.settings where settings.name = 'email_change_minutes')))
  on conflict on constraint email_changes_pkey do update
  set new_email = excluded.new_email, code_digest = excluded.code_digest, attempts = 0,
      created_at = now(), expires_at = excluded.expires_at
  where change.created_at
    <= now() - make_interval(secs => (select value from bellwire.settings where settings.name = 'account_mail_seconds'))
  returning change.expires_at into expires_at;
  if expires_at is null then
    raise exception 'a code was sent a moment ago'
      using errcode = '54000', detail = 'too_soon', hint = 'Wait a minute before you ask for another one.';
  end if;
  name := person.name;
  email := person.email;
  return next;
end
$$;

comment on function identity.begin_email_change(bigint, text, text) is
  'Stores another address and the digest of the code that confirms it.';

revoke all on function identity.begin_email_change(bigint, text, text) from public;
grant execute on function identity.begin_email_change(bigint, text, text) to bellwire_server;
