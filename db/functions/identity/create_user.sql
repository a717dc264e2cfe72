-- Adds a person who signs in with a password.
-- Called by: bellwire_admin; the seed.
-- Errors: 23505 when the address is taken; 23514 for a hash that is not argon2id.
create or replace function identity.create_user(
  name text,
  email text,
  password_hash text,
  is_admin boolean default false
)
returns bigint
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  new_id bigint;
begin
  insert into bellwire.users as person (name, email, is_admin)
  values (name, email, is_admin)
  returning person.id into new_id;
  insert into identity.passwords (user_id, password_hash) values (new_id, password_hash);
  return new_id;
end
$$;

comment on function identity.create_user(text, text, text, boolean) is
  'Adds a user with a password hash; returns the id.';

revoke all on function identity.create_user(text, text, text, boolean) from public;
grant execute on function identity.create_user(text, text, text, boolean) to bellwire_admin;
