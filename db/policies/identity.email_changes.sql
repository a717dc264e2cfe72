-- The sign-in functions and nobody else.
select bellwire.close_table('identity.email_changes');

create policy select_definer on identity.email_changes for select to bellwire_definer using (true);
create policy insert_definer on identity.email_changes for insert to bellwire_definer with check (true);
create policy update_definer on identity.email_changes for update to bellwire_definer
  using (true)
  with check (true);
create policy delete_definer on identity.email_changes for delete to bellwire_definer using (true);
grant select, insert, update, delete on identity.email_changes to bellwire_definer;
