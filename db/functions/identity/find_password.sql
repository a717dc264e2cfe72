-- What the server needs to check the password of somebody who is signed in.
-- Called by: bellwire_server.
-- Errors: none; no row for the unknown and the deactivated.
-- Returns: a null hash for who has no password.
create or replace function identity.find_password(of_user_id bigint)
returns table (name text, email text, password_hash text)
language plpgsql
stable
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
    select person.name, person.email, password.password_hash
    from bellwire.users as person
    left join identity.passwords as password on password.user_id = person.id
    where person.id = of_user_id and person.deactivated_at is null;
end
$$;

comment on function identity.find_password(bigint) is 'Name, address and password hash of a person.';

revoke all on function identity.find_password(bigint) from public;
grant execute on function identity.find_password(bigint) to bellwire_server;
