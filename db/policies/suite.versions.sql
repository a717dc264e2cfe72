-- Guests read, members publish, leads delete.
select bellwire.close_table('suite.versions');

create policy select_definer on suite.versions for select to bellwire_definer using (true);
create policy insert_definer on suite.versions for insert to bellwire_definer with check (true);
create policy update_definer on suite.versions for update to bellwire_definer using (true) with check (true);
create policy delete_definer on suite.versions for delete to bellwire_definer using (true);
grant select, insert, update, delete on suite.versions to bellwire_definer;

create policy select_admin on suite.versions for select to bellwire_admin using (true);
grant select on suite.versions to bellwire_admin;

create policy select_guest on suite.versions for select to authenticated
  using (squad_id = any (array(select suite.my_squads('guest'))));
grant select on suite.versions to authenticated;

create policy insert_member on suite.versions for insert to authenticated
  with check (squad_id = any (array(select suite.my_squads('member'))));
grant insert (log_id, title, html) on suite.versions to authenticated;

create policy delete_lead on suite.versions for delete to authenticated
  using (squad_id = any (array(select suite.my_squads('lead'))));
grant delete on suite.versions to authenticated;
