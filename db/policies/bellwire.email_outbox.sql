-- The drain and administrators.
select bellwire.close_table('bellwire.email_outbox');

create policy select_definer on bellwire.email_outbox for select to bellwire_definer using (true);
create policy insert_definer on bellwire.email_outbox for insert to bellwire_definer with check (true);
create policy update_definer on bellwire.email_outbox for update to bellwire_definer
  using (true)
  with check (true);
create policy delete_definer on bellwire.email_outbox for delete to bellwire_definer using (true);
grant select, insert, update, delete on bellwire.email_outbox to bellwire_definer;

create policy select_admin on bellwire.email_outbox for select to bellwire_admin using (true);
grant select on bellwire.email_outbox to bellwire_admin;
