-- What a notification sets off.
create or replace trigger _100_stamp_xid before update of read_at on bellwire.notifications
  for each row when (old.read_at is distinct from new.read_at) execute function bellwire.stamp_xid();

create or replace trigger _100_queue_email after insert on bellwire.notifications
  referencing new table as written for each statement execute function bellwire.queue_email();
create or replace trigger _200_wake_push after insert on bellwire.notifications
  for each statement execute function bellwire.wake_push();
create or replace trigger _200_wake_push_update after update on bellwire.notifications
  for each statement execute function bellwire.wake_push();
