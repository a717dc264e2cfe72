-- Brings the administrator that the environment of a server names up to date: makes one, or gives one who is an
-- administrator already this name and password. It never promotes: an account that is none, or was deactivated, is left
-- as it is, whoever it belongs to. A new password ends all that the old one had opened.
-- Called by: bellwire_server, at each start. The hash is null where the password is the one they have.
-- Errors: 22023 when a new administrator has no hash; 23514 for a name or address out of bounds.
-- Returns: created, synced or refused, and whose account it is; for one that was created the active administrators before it:
-- a changed address makes another account, and the one before keeps its rights until somebody takes them.
-- Source: reference 001, section 1 "Admin sync".
create or replace function identity.sync_admin(
  name text,
  email text,
  password_hash text
)
returns table (outcome text, user_id bigint, earlier_ids bigint[])
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  sync_lock constant integer := 7310;
  account bellwire.users;
begin
  -- Several servers may start at once.
  perform pg_advisory_xact_lock(sync_lock, 0);
  select person.* into account from bellwire.users as person where lower(person.email) = lower(email);
  if account.id is null then
    if password_hash is null then
      raise exception 'a new administrator needs a password'
        using errcode = '22023', hint = 'Pass its argon2id hash.';
    end if;
    outcome := 'created';
    earlier_ids := array(
      select person.id from bellwire.users as person
      where person.is_admin and person.deactivated_at is null
      order by person.id);
    user_id := identity.create_user(name, email, password_hash, true);
  elsif not account.is_admin or account.deactivated_at is not null then
    outcome := 'refused';
    user_id := account.id;
  else
    outcome := 'synced';
    user_id := account.id;
    perform identity.lock_person(account.id);
    update bellwire.users as person set name = sync_admin.name
    where person.id = account.id and person.name <> sync_admin.name;
    if password_hash is not null then
      perform identity.set_password(account.id, password_hash);
      perform identity.end_sign_ins(account.id);
    end if;
  end if;
  return next;
end
$$;

comment on function identity.sync_admin(text, text, text) is
  'Makes the administrator of the environment, or updates one who is an administrator already.';

revoke all on function identity.sync_admin(text, text, text) from public;
grant execute on function identity.sync_admin(text, text, text) to bellwire_server;
