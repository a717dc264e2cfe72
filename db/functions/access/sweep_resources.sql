-- Trigger function: the watches of registry rows go with them. No foreign key does it: see activity_log.
-- Called by: trigger _100_sweep on bellwire.resources, after each delete statement.
-- Errors: none.
create or replace function bellwire.sweep_resources()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  delete from bellwire.watches as gone using removed where gone.resource_id = removed.id;
  return null;
end
$$;

comment on function bellwire.sweep_resources() is 'Deletes the watches of deleted registry rows.';

revoke all on function bellwire.sweep_resources() from public;
grant execute on function bellwire.sweep_resources() to bellwire_owner;
