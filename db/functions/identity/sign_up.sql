-- An invitation that an address asks for itself, where sign-up is open, unless it did so a moment ago. It is kept for an
-- address that has an account as well, so that the two cannot be told apart by how often they may ask.
-- Called by: bellwire_server, after its answer: that one is the same for every address.
-- Errors: none; no row when nothing is to be sent.
-- Returns: whom to send a letter, and which: an account there is gets none with a link.
create or replace function identity.sign_up(to_email text, new_token_digest text)
returns table (email text, has_account boolean)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  found_email text;
begin
  if not identity.is_sign_up_open() then
    return;
  end if;
  insert into identity.invitations as invitation (email, token_digest, expires_at)
  values (
    to_email, new_token_digest,
    now() + make_interval(hours => (select value::integer from bellwire.settings where name = 'invitation_hours')))
  on conflict (lower(email), coalesce(workspace_id, 0), (invited_by is null)) where accepted_at is null and revoked_at is null
  do update
  set email = excluded.email, token_digest = excluded.token_digest, sent_count = invitation.sent_count + 1,
      created_at = now(), expires_at = excluded.expires_at
  where invitation.created_at
    <= now() - make_interval(secs => (select value from bellwire.settings where name = 'account_mail_seconds'));
  if not found then
    return;
  end if;
  select person.email into found_email from bellwire.users as person where lower(person.email) = lower(to_email);
  return query select coalesce(found_email, to_email), found_email is not null;
end
$$;

comment on function identity.sign_up(text, text) is 'Stores the invitation of an address that signs itself up.';

revoke all on function identity.sign_up(text, text) from public;
grant execute on function identity.sign_up(text, text) to bellwire_server;
