-- The password hash of an active person, for the server to verify.
-- Called by: bellwire_server.
-- Errors: none; no row for an unknown address.
create or replace function identity.find_credentials(email text)
returns table (user_id bigint, password_hash text)
language plpgsql
stable
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
    select person.id, password.password_hash
    from bellwire.users as person
    join identity.passwords as password on password.user_id = person.id
    where lower(person.email) = lower(find_credentials.email) and person.deactivated_at is null;
end
$$;

comment on function identity.find_credentials(text) is 'User id and argon2id hash for an e-mail address.';

revoke all on function identity.find_credentials(text) from public;
grant execute on function identity.find_credentials(text) to bellwire_server;
