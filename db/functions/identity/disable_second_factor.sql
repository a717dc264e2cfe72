-- Turns the second factor off, for a code of it.
-- Called by: bellwire_server, which has checked the password.
-- Errors: none.
-- Returns: right, wrong or paused; it is off after the first.
create or replace function identity.disable_second_factor(of_user_id bigint, matched_step bigint, code_digest text)
returns text
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  outcome text;
begin
  -- The person first, as a sign-in that is being finished does it: it then locks the same rows in another order.
  perform identity.lock_person(of_user_id);
  outcome := identity.check_second_factor(of_user_id, matched_step, code_digest);
  if outcome = 'right' then
    perform identity.remove_second_factor(of_user_id);
  end if;
  return outcome;
end
$$;

comment on function identity.disable_second_factor(bigint, bigint, text) is
  'Deletes a second factor, if the code is right.';

revoke all on function identity.disable_second_factor(bigint, bigint, text) from public;
grant execute on function identity.disable_second_factor(bigint, bigint, text) to bellwire_server;
