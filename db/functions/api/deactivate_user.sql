-- Deactivates somebody else.
-- Called by: authenticated.
-- Errors: 42501 for anybody but an administrator of the installation, and for oneself; those of identity.deactivate().
-- Returns: the digests of the sessions that have ended, for their sockets.
create or replace function api.deactivate_user(user_id bigint)
returns text[]
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform identity.require_admin();
  if user_id = bellwire.current_user_id() then
    raise exception 'this is your own account'
      using errcode = '42501', hint = 'Leave with your password: POST /api/account/deactivate.';
  end if;
  return identity.deactivate(user_id);
end
$$;

comment on function api.deactivate_user(bigint) is 'Deactivates an account.';

revoke all on function api.deactivate_user(bigint) from public;
grant execute on function api.deactivate_user(bigint) to authenticated;
