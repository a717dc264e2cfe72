-- Gives a person a password, their first one as well.
-- Called by: functions of identity, as bellwire_definer, which have locked the person.
-- Errors: 23514 for what is no argon2id hash.
create or replace function identity.set_password(of_user_id bigint, new_hash text)
returns void
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  insert into identity.passwords as password (user_id, password_hash)
  values (of_user_id, new_hash)
  on conflict (user_id) do update set password_hash = excluded.password_hash, changed_at = now();
end
$$;

comment on function identity.set_password(bigint, text) is 'Sets the password hash of a person.';

revoke all on function identity.set_password(bigint, text) from public;
