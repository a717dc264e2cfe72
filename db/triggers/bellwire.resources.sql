create or replace trigger _100_sweep after delete on bellwire.resources
  referencing old table as removed for each statement execute function bellwire.sweep_resources();
