-- Lets the rest of the transaction be a person's doing: what they join, and whom they invite, is recorded as theirs.
-- Called by: functions of identity, as bellwire_definer, for a person the server has signed in.
-- Errors: 28000 for somebody unknown or deactivated.
create or replace function identity.become(user_id bigint)
returns void
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  if not exists (
    select from bellwire.users as person where person.id = become.user_id and person.deactivated_at is null)
  then
    raise exception 'this account is not active'
      using errcode = '28000', hint = 'Sign in again.';
  end if;
  perform set_config(
    'request.jwt.claims', jsonb_build_object('sub', user_id::text, 'role', 'authenticated')::text, true);
end
$$;

comment on function identity.become(bigint) is 'Sets the acting user for the transaction.';

revoke all on function identity.become(bigint) from public;
