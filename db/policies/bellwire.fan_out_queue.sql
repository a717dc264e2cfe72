-- The drain and administrators.
select bellwire.close_table('bellwire.fan_out_queue');

create policy select_definer on bellwire.fan_out_queue for select to bellwire_definer using (true);
create policy insert_definer on bellwire.fan_out_queue for insert to bellwire_definer with check (true);
create policy update_definer on bellwire.fan_out_queue for update to bellwire_definer
  using (true)
  with check (true);
create policy delete_definer on bellwire.fan_out_queue for delete to bellwire_definer using (true);
grant select, insert, update, delete on bellwire.fan_out_queue to bellwire_definer;

create policy select_admin on bellwire.fan_out_queue for select to bellwire_admin using (true);
grant select on bellwire.fan_out_queue to bellwire_admin;
