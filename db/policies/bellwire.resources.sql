-- Whoever reads a scope reads what is registered in it.
select bellwire.close_table('bellwire.resources');

create policy select_definer on bellwire.resources for select to bellwire_definer using (true);
create policy insert_definer on bellwire.resources for insert to bellwire_definer with check (true);
create policy update_definer on bellwire.resources for update to bellwire_definer
  using (true)
  with check (true);
grant select, insert, update on bellwire.resources to bellwire_definer;

create policy select_admin on bellwire.resources for select to bellwire_admin using (true);
grant select on bellwire.resources to bellwire_admin;

create policy select_scope on bellwire.resources for select to authenticated
  using (scope_id = any (array(select bellwire.my_scopes())));
grant select on bellwire.resources to authenticated;
