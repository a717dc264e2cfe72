-- The sign-in functions and nobody else.
select bellwire.close_table('identity.recovery_codes');

create policy select_definer on identity.recovery_codes for select to bellwire_definer using (true);
create policy insert_definer on identity.recovery_codes for insert to bellwire_definer with check (true);
create policy update_definer on identity.recovery_codes for update to bellwire_definer
  using (true)
  with check (true);
create policy delete_definer on identity.recovery_codes for delete to bellwire_definer using (true);
grant select, insert, update, delete on identity.recovery_codes to bellwire_definer;
