-- Members see their workspace.
select bellwire.close_table('bellwire.workspaces');

create policy select_definer on bellwire.workspaces for select to bellwire_definer using (true);
create policy insert_definer on bellwire.workspaces for insert to bellwire_definer with check (true);
create policy update_definer on bellwire.workspaces for update to bellwire_definer
  using (true)
  with check (true);
create policy delete_definer on bellwire.workspaces for delete to bellwire_definer using (true);
grant select, insert, update, delete on bellwire.workspaces to bellwire_definer;

create policy select_admin on bellwire.workspaces for select to bellwire_admin using (true);
grant select on bellwire.workspaces to bellwire_admin;

create policy select_own on bellwire.workspaces for select to authenticated
  using (id = any (array(select bellwire.my_workspaces())));
grant select on bellwire.workspaces to authenticated;
