-- Reads the next rows of an open cursor as registry entries.
-- Called by: register_rows().
-- Errors: none of its own.
-- Returns: null at the end.
create or replace function bellwire.fetch_entries(existing refcursor, max_count integer)
returns bellwire.resource_entry[]
language plpgsql
set search_path = ''
as $$
declare
  entry bellwire.resource_entry;
  entries bellwire.resource_entry[] := '{}';
begin
  for i in 1 .. max_count loop
    fetch existing into entry;
    exit when not found;
    entries := entries || entry;
  end loop;
  return nullif(entries, '{}');
end
$$;

comment on function bellwire.fetch_entries(refcursor, integer) is
  'The next entries of a cursor, null when there are no more.';

revoke all on function bellwire.fetch_entries(refcursor, integer) from public;
grant execute on function bellwire.fetch_entries(refcursor, integer) to bellwire_admin;
