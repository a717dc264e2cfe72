-- The sign-in functions and nobody else.
select bellwire.close_table('identity.second_factors');

create policy select_definer on identity.second_factors for select to bellwire_definer using (true);
create policy insert_definer on identity.second_factors for insert to bellwire_definer with check (true);
create policy update_definer on identity.second_factors for update to bellwire_definer
  using (true)
  with check (true);
create policy delete_definer on identity.second_factors for delete to bellwire_definer using (true);
grant select, insert, update, delete on identity.second_factors to bellwire_definer;
