create or replace trigger _100_sweep after delete on bellwire.users
  referencing old table as removed for each statement execute function bellwire.sweep_users();
create or replace trigger _200_end_sign_ins after update on bellwire.users
  for each row when ((old.deactivated_at is null) <> (new.deactivated_at is null)) execute function identity.sweep_sign_ins();
