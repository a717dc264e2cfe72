create or replace trigger _100_sweep after delete on bellwire.workspaces
  referencing old table as removed for each statement execute function bellwire.sweep_workspaces();
