-- Trigger function: wakes the servers after notifications were counted up or read.
-- Called by: trigger _200_wake_push on bellwire.notifications, after each update statement.
-- Errors: none.
create or replace function bellwire.wake_push()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform bellwire.wake('bellwire_push');
  return null;
end
$$;

comment on function bellwire.wake_push() is 'Wakes the push tail.';

revoke all on function bellwire.wake_push() from public;
grant execute on function bellwire.wake_push() to bellwire_owner;
