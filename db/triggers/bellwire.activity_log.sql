-- The guard that keeps the log append-only.
create or replace trigger _000_append_only before update on bellwire.activity_log
  for each statement execute function bellwire.refuse_update();
create or replace trigger _000_append_only_truncate before truncate on bellwire.activity_log
  for each statement execute function bellwire.refuse_update();
