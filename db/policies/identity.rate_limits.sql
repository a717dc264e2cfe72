-- take_attempt() and retention, and nobody else.
select bellwire.close_table('identity.rate_limits');

create policy select_definer on identity.rate_limits for select to bellwire_definer using (true);
create policy insert_definer on identity.rate_limits for insert to bellwire_definer with check (true);
create policy update_definer on identity.rate_limits for update to bellwire_definer
  using (true)
  with check (true);
create policy delete_definer on identity.rate_limits for delete to bellwire_definer using (true);
grant select, insert, update, delete on identity.rate_limits to bellwire_definer;
