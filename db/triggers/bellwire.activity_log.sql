-- The rules an activity sets off, in the order of their numbers; and the guard that keeps the log append-only.
create or replace trigger _000_append_only before update on bellwire.activity_log
  for each statement execute function bellwire.refuse_update();
create or replace trigger _000_append_only_truncate before truncate on bellwire.activity_log
  for each statement execute function bellwire.refuse_update();

create or replace trigger _100_emit_webhooks after insert on bellwire.activity_log
  referencing new table as recorded for each statement execute function bellwire.emit_webhooks();
create or replace trigger _200_auto_watch after insert on bellwire.activity_log
  referencing new table as recorded for each statement execute function bellwire.auto_watch();
create or replace trigger _300_fan_out after insert on bellwire.activity_log
  referencing new table as recorded for each statement execute function bellwire.fan_out();
