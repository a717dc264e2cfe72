-- Trigger function: reading a notification is news to the owner's other tabs, so the row passes the push tail again.
-- Called by: trigger _100_stamp_xid on bellwire.notifications, before update of read_at.
-- Errors: none.
create or replace function bellwire.stamp_xid()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.xid := pg_current_xact_id();
  return new;
end
$$;

comment on function bellwire.stamp_xid() is 'Sets xid to the current transaction.';

revoke all on function bellwire.stamp_xid() from public;
grant execute on function bellwire.stamp_xid() to bellwire_owner;
