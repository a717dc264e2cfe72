create or replace trigger _100_sweep after delete on bellwire.workspaces
  referencing old table as removed for each statement execute function bellwire.sweep_workspaces();
create or replace trigger _100_empty before delete on bellwire.workspaces
  for each row execute function suite.empty_workspace();
