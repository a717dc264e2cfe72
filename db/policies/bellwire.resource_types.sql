-- Reference rows.
select bellwire.close_table('bellwire.resource_types');

create policy select_definer on bellwire.resource_types for select to bellwire_definer using (true);
create policy insert_definer on bellwire.resource_types for insert to bellwire_definer with check (true);
create policy update_definer on bellwire.resource_types for update to bellwire_definer
  using (true)
  with check (true);
grant select, insert, update on bellwire.resource_types to bellwire_definer;

create policy select_admin on bellwire.resource_types for select to bellwire_admin using (true);
grant select on bellwire.resource_types to bellwire_admin;

create policy select_all on bellwire.resource_types for select to authenticated using (true);
grant select on bellwire.resource_types to authenticated;
