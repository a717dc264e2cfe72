-- The active person, locked for the rest of the transaction. Everything that changes credentials, or ends sessions, begins
-- with it: whoever comes second waits here, and never in the middle.
-- Called by: functions of identity, as bellwire_definer.
-- Errors: none; null for somebody unknown or deactivated.
create or replace function identity.lock_person(user_id bigint)
returns bellwire.users
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  found_person bellwire.users;
begin
  select person.* into found_person
  from bellwire.users as person
  where person.id = lock_person.user_id and person.deactivated_at is null
  for no key update;
  return found_person;
end
$$;

comment on function identity.lock_person(bigint) is 'Locks an active person.';

revoke all on function identity.lock_person(bigint) from public;
