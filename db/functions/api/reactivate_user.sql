-- Lets somebody who was deactivated sign in again, with the password they had. Sessions from before do not come back.
-- Called by: authenticated.
-- Errors: 42501 for anybody but an administrator of the installation; P0002 for somebody unknown or active.
create or replace function api.reactivate_user(user_id bigint)
returns void
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  perform identity.require_admin();
  update bellwire.users as person
  set deactivated_at = null
  where person.id = reactivate_user.user_id and person.deactivated_at is not null;
  if not found then
    raise exception 'there is no such deactivated account'
      using errcode = 'P0002', hint = 'It may be active already.';
  end if;
end
$$;

comment on function api.reactivate_user(bigint) is 'Reactivates an account.';

revoke all on function api.reactivate_user(bigint) from public;
grant execute on function api.reactivate_user(bigint) to authenticated;
