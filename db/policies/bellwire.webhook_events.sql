-- The sequencer and administrators.
select bellwire.close_table('bellwire.webhook_events');

create policy select_definer on bellwire.webhook_events for select to bellwire_definer using (true);
create policy insert_definer on bellwire.webhook_events for insert to bellwire_definer with check (true);
create policy update_definer on bellwire.webhook_events for update to bellwire_definer
  using (true)
  with check (true);
create policy delete_definer on bellwire.webhook_events for delete to bellwire_definer using (true);
grant select, insert, update, delete on bellwire.webhook_events to bellwire_definer;

create policy select_admin on bellwire.webhook_events for select to bellwire_admin using (true);
grant select on bellwire.webhook_events to bellwire_admin;
