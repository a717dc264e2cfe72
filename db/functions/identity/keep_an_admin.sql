-- Refuses what would leave the installation without an administrator. All of them are locked, in one order: two who leave at
-- once leave one after the other.
-- Called by: deactivate() and set_admin(), as bellwire_definer, before they change the person.
-- Errors: 22023 with detail last_admin.
create or replace function identity.keep_an_admin(leaving_user_id bigint)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform from bellwire.users as person
  where person.is_admin and person.deactivated_at is null
  order by person.id
  for no key update;
  if array(select person.id from bellwire.users as person where person.is_admin and person.deactivated_at is null)
    = array[leaving_user_id]
  then
    raise exception 'the installation keeps at least one administrator'
      using errcode = '22023', detail = 'last_admin', hint = 'Make somebody else an administrator first.';
  end if;
end
$$;

comment on function identity.keep_an_admin(bigint) is 'Raises if this person is the last active administrator.';

revoke all on function identity.keep_an_admin(bigint) from public;
