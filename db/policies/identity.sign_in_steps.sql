-- The sign-in functions and nobody else.
select bellwire.close_table('identity.sign_in_steps');

create policy select_definer on identity.sign_in_steps for select to bellwire_definer using (true);
create policy insert_definer on identity.sign_in_steps for insert to bellwire_definer with check (true);
create policy update_definer on identity.sign_in_steps for update to bellwire_definer
  using (true)
  with check (true);
create policy delete_definer on identity.sign_in_steps for delete to bellwire_definer using (true);
grant select, insert, update, delete on identity.sign_in_steps to bellwire_definer;
