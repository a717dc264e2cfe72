-- The check at the head of what only the administrators of the installation may do.
-- Called by: functions of identity and api, as bellwire_definer.
-- Errors: 42501.
create or replace function identity.require_admin()
returns void
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  if not exists (
    select from bellwire.users as person
    where person.id = bellwire.current_user_id() and person.is_admin and person.deactivated_at is null)
  then
    raise exception 'only an administrator of the installation may do that'
      using errcode = '42501', hint = 'Ask one of them.';
  end if;
end
$$;

comment on function identity.require_admin() is 'Raises unless the caller is an administrator of the installation.';

revoke all on function identity.require_admin() from public;
