-- The guard that keeps the record append-only.
create or replace trigger _000_append_only before update on bellwire.webhook_changes
  for each statement execute function bellwire.refuse_update();
create or replace trigger _000_append_only_truncate before truncate on bellwire.webhook_changes
  for each statement execute function bellwire.refuse_update();
