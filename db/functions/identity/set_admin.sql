-- Makes somebody an administrator of the installation, or takes that from them, at once: whatever asks for it looks at the
-- row. The last active one stays.
-- Called by: bellwire_admin.
-- Errors: P0002 for somebody unknown; 22023 with detail last_admin.
create or replace function identity.set_admin(of_user_id bigint, is_admin boolean)
returns void
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  if not set_admin.is_admin then
    perform identity.keep_an_admin(of_user_id);
  end if;
  update bellwire.users as person set is_admin = set_admin.is_admin where person.id = of_user_id;
  if not found then
    raise exception 'there is no person %', of_user_id
      using errcode = 'P0002', hint = 'select id, name, email from bellwire.users';
  end if;
end
$$;

comment on function identity.set_admin(bigint, boolean) is 'Makes a person an administrator of the installation, or ends that.';

revoke all on function identity.set_admin(bigint, boolean) from public;
grant execute on function identity.set_admin(bigint, boolean) to bellwire_admin;
