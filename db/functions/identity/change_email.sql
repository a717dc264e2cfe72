-- Gives a person another address.
-- Called by: change_credentials(), as bellwire_definer, which has locked the person.
-- Errors: 23505 with detail email_taken; 22023 with detail managed_elsewhere for people of a tracked table.
create or replace function identity.change_email(person bellwire.users, new_email text)
returns void
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  if new_email is null then
    return;
  end if;
  if person.external_id is not null then
    raise exception 'this account is kept by your application'
      using errcode = '22023', detail = 'managed_elsewhere', hint = 'Change the address there.';
  end if;
  if exists (select from bellwire.users as other where lower(other.email) = lower(new_email) and other.id <> person.id) then
    raise exception 'somebody else has this address'
      using errcode = '23505', detail = 'email_taken', hint = 'Choose another one.';
  end if;
  update bellwire.users as changed set email = new_email where changed.id = person.id;
end
$$;

comment on function identity.change_email(bellwire.users, text) is 'Sets the e-mail address of a person.';

revoke all on function identity.change_email(bellwire.users, text) from public;
