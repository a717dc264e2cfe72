-- Takes the second factor from a person, with what belongs to it: for who has lost the device and the recovery codes, once
-- you know who asks.
-- Called by: bellwire_admin; disable_second_factor().
-- Errors: none.
-- Returns: whether there was one.
create or replace function identity.remove_second_factor(of_user_id bigint)
returns boolean
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  perform identity.lock_person(of_user_id);
  delete from identity.recovery_codes as code where code.user_id = of_user_id;
  delete from identity.sign_in_steps as step where step.user_id = of_user_id;
  delete from identity.second_factors as factor where factor.user_id = of_user_id;
  return found;
end
$$;

comment on function identity.remove_second_factor(bigint) is 'Deletes the second factor of a person.';

revoke all on function identity.remove_second_factor(bigint) from public;
grant execute on function identity.remove_second_factor(bigint) to bellwire_admin;
