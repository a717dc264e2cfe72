-- News of a row that is there: counted up, or read. Of a new one write_notifications() tells.
create or replace trigger _100_stamp_xid before update of read_at on bellwire.notifications
  for each row when (old.read_at is distinct from new.read_at) execute function bellwire.stamp_xid();

create or replace trigger _200_wake_push after update on bellwire.notifications
  for each statement execute function bellwire.wake_push();
