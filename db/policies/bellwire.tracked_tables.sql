-- For administrators.
select bellwire.close_table('bellwire.tracked_tables');

create policy select_definer on bellwire.tracked_tables for select to bellwire_definer using (true);
create policy insert_definer on bellwire.tracked_tables for insert to bellwire_definer with check (true);
create policy delete_definer on bellwire.tracked_tables for delete to bellwire_definer using (true);
grant select, insert, delete on bellwire.tracked_tables to bellwire_definer;

create policy select_admin on bellwire.tracked_tables for select to bellwire_admin using (true);
grant select on bellwire.tracked_tables to bellwire_admin;
