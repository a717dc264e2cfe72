-- Takes over a hash of the same password made with more work, unless the password was changed in between.
-- Called by: bellwire_server, after a sign-in.
-- Errors: 23514 for what is no argon2id hash.
create or replace function identity.rehash_password(of_user_id bigint, verified_hash text, new_hash text)
returns void
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  update identity.passwords as password
  set password_hash = new_hash
  where password.user_id = of_user_id and password.password_hash = verified_hash;
end
$$;

comment on function identity.rehash_password(bigint, text, text) is
  'Replaces a password hash by a stronger one of the same password.';

revoke all on function identity.rehash_password(bigint, text, text) from public;
grant execute on function identity.rehash_password(bigint, text, text) to bellwire_server;
