-- Trigger function: the inbox and the watches of a deleted person go with them. What they did stays, signed with an id nobody has.
-- Called by: trigger _100_sweep on bellwire.users, after each delete statement.
-- Errors: none.
create or replace function bellwire.sweep_users()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  delete from bellwire.notifications as gone using removed where gone.user_id = removed.id;
  delete from bellwire.watches as gone using removed where gone.user_id = removed.id;
  return null;
end
$$;

comment on function bellwire.sweep_users() is 'Deletes the notifications and watches of deleted users.';

revoke all on function bellwire.sweep_users() from public;
grant execute on function bellwire.sweep_users() to bellwire_owner;
