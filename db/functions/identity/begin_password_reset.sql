-- Keeps the digest of a link for whoever has this address, unless one was sent a moment ago. The last link is void with it.
-- Called by: bellwire_server, after its answer: that one is the same for every address.
-- Errors: none; no row when nothing is to be sent.
-- Returns: whom to send the link. The address is the one on file, not the one that was typed: two may look the same.
create or replace function identity.begin_password_reset(of_email text, new_token_digest text)
returns table (name text, email text)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  person bellwire.users;
begin
  select candidate.* into person
  from bellwire.users as candidate
  where lower(candidate.email) = lower(of_email)
    and candidate.deactivated_at is null
    and candidate.email is distinct from bellwire.no_address(candidate.external_id);
  if person.id is null then
    return;
  end if;
  insert into identity.password_resets as reset (user_id, token_digest, expires_at)
  values (
    person.id, new_token_digest,
    now() + make_interval(mins => (select value::integer from bellwire.settings where settings.name = 'password_reset_minutes')))
  on conflict on constraint password_resets_pkey do update
  set token_digest = excluded.token_digest, created_at = now(), expires_at = excluded.expires_at
  where reset.created_at
    <= now() - make_interval(secs => (select value from bellwire.settings where settings.name = 'account_mail_seconds'));
  if found then
    name := person.name;
    email := person.email;
    return next;
  end if;
end
$$;

comment on function identity.begin_password_reset(text, text) is
  'Stores the digest of a link that sets a new password.';

revoke all on function identity.begin_password_reset(text, text) from public;
grant execute on function identity.begin_password_reset(text, text) to bellwire_server;
