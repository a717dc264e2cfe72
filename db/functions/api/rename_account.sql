-- Changes the caller's own name.
-- Called by: authenticated.
-- Errors: P0002 for nobody; 22023 with detail managed_elsewhere for people of a tracked table; 23514 for a bad name.
create or replace function api.rename_account(new_name text)
returns void
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  update bellwire.users as person
  set name = new_name
  where person.id = bellwire.current_user_id() and person.deactivated_at is null and person.external_id is null;
  if found then
    return;
  end if;
  if exists (select from bellwire.users as person where person.id = bellwire.current_user_id() and person.deactivated_at is null) then
    raise exception 'this account is kept by your application'
      using errcode = '22023', detail = 'managed_elsewhere', hint = 'Change the name there.';
  end if;
  raise exception 'there is no such active account'
    using errcode = 'P0002', hint = 'Sign in again.';
end
$$;

comment on function api.rename_account(text) is 'Renames the caller.';

revoke all on function api.rename_account(text) from public;
grant execute on function api.rename_account(text) to authenticated;
