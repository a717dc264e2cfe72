-- Whose password a link sets, so that the server can refuse a bad one before the link is used up.
-- Called by: bellwire_server.
-- Errors: P0002 with detail reset_gone.
create or replace function identity.find_password_reset(token_digest text)
returns table (name text, email text)
language plpgsql
stable
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
    select person.name, person.email
    from identity.password_resets as reset
    join bellwire.users as person on person.id = reset.user_id and person.deactivated_at is null
    where reset.token_digest = find_password_reset.token_digest and reset.expires_at > now();
  if not found then
    raise exception 'this link does not work any more'
      using errcode = 'P0002', detail = 'reset_gone', hint = 'Ask for a new one.';
  end if;
end
$$;

comment on function identity.find_password_reset(text) is 'The person of a link that sets a new password.';

revoke all on function identity.find_password_reset(text) from public;
grant execute on function identity.find_password_reset(text) to bellwire_server;
