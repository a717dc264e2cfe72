-- Deactivates a person: no sign-in, no session, no notification. What they did, and what they watch, stays for the day they come
-- back. The installation keeps an administrator.
-- Called by: bellwire_server, which has checked the password of a person who leaves; api.deactivate_user().
-- Errors: P0002 for somebody unknown or deactivated; 22023 with detail last_admin.
-- Returns: the digests of the sessions that have ended, for their sockets.
create or replace function identity.deactivate(of_user_id bigint)
returns text[]
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  person bellwire.users;
begin
  -- All of them, in one order: two administrators who leave at once leave one after the other.
  perform from bellwire.users as other
  where other.is_admin and other.deactivated_at is null
  order by other.id
  for no key update;
  person := identity.lock_person(of_user_id);
  if person.id is null then
    raise exception 'there is no such active account'
      using errcode = 'P0002', hint = 'It may be deactivated already.';
  end if;
  if person.is_admin and not exists (
    select from bellwire.users as other
    where other.is_admin and other.deactivated_at is null and other.id <> of_user_id)
  then
    raise exception 'the installation keeps at least one administrator'
      using errcode = '22023', detail = 'last_admin', hint = 'Make somebody else an administrator first.';
  end if;
  update bellwire.users as leaving set deactivated_at = now() where leaving.id = of_user_id;
  return identity.end_sign_ins(of_user_id);
end
$$;

comment on function identity.deactivate(bigint) is 'Deactivates an account; returns the digests of its sessions.';

revoke all on function identity.deactivate(bigint) from public;
grant execute on function identity.deactivate(bigint) to bellwire_server;
