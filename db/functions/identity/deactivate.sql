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
  ended text[];
begin
  perform identity.keep_an_admin(of_user_id);
  person := identity.lock_person(of_user_id);
  if person.id is null then
    raise exception 'there is no such active account'
      using errcode = 'P0002', hint = 'It may be deactivated already.';
  end if;
  -- The trigger of the update would do it, and not say which.
  ended := identity.end_sign_ins(of_user_id);
  update bellwire.users as leaving set deactivated_at = now() where leaving.id = of_user_id;
  return ended;
end
$$;

comment on function identity.deactivate(bigint) is 'Deactivates an account; returns the digests of its sessions.';

revoke all on function identity.deactivate(bigint) from public;
grant execute on function identity.deactivate(bigint) to bellwire_server;
