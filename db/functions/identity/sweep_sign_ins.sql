-- Trigger function: whoever is deactivated is signed out for good, by whatever way, and comes back to no session: also not
-- to one that was opened at the same moment.
-- Called by: trigger _200_end_sign_ins on bellwire.users, for each row that is deactivated or reactivated.
-- Errors: none.
create or replace function identity.sweep_sign_ins()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform identity.end_sign_ins(new.id);
  return null;
end
$$;

comment on function identity.sweep_sign_ins() is 'Ends the sign-ins of a person who is deactivated or reactivated.';

revoke all on function identity.sweep_sign_ins() from public;
grant execute on function identity.sweep_sign_ins() to bellwire_owner;
