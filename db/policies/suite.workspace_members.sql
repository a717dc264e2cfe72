-- Through api functions.
select bellwire.close_table('suite.workspace_members');

create policy select_definer on suite.workspace_members for select to bellwire_definer using (true);
create policy insert_definer on suite.workspace_members for insert to bellwire_definer with check (true);
create policy update_definer on suite.workspace_members for update to bellwire_definer
  using (true)
  with check (true);
create policy delete_definer on suite.workspace_members for delete to bellwire_definer using (true);
grant select, insert, update, delete on suite.workspace_members to bellwire_definer;

create policy select_admin on suite.workspace_members for select to bellwire_admin using (true);
grant select on suite.workspace_members to bellwire_admin;
