-- The sequencer and administrators.
select bellwire.close_table('bellwire.webhook_sequence');

create policy select_definer on bellwire.webhook_sequence for select to bellwire_definer using (true);
create policy update_definer on bellwire.webhook_sequence for update to bellwire_definer
  using (true)
  with check (true);
grant select, update on bellwire.webhook_sequence to bellwire_definer;

create policy select_admin on bellwire.webhook_sequence for select to bellwire_admin using (true);
grant select on bellwire.webhook_sequence to bellwire_admin;
