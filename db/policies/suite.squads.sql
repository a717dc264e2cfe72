-- Members see their squads; a lead renames and deletes. A new one comes from api.create_squad(), with its first member.
select bellwire.close_table('suite.squads');

create policy select_definer on suite.squads for select to bellwire_definer using (true);
create policy insert_definer on suite.squads for insert to bellwire_definer with check (true);
create policy update_definer on suite.squads for update to bellwire_definer using (true) with check (true);
create policy delete_definer on suite.squads for delete to bellwire_definer using (true);
grant select, insert, update, delete on suite.squads to bellwire_definer;

create policy select_admin on suite.squads for select to bellwire_admin using (true);
grant select on suite.squads to bellwire_admin;

create policy select_member on suite.squads for select to authenticated
  using (id = any (array(select suite.my_squads('guest'))));
grant select on suite.squads to authenticated;

create policy update_lead on suite.squads for update to authenticated
  using (id = any (array(select suite.my_squads('lead'))))
  with check (id = any (array(select suite.my_squads('lead'))));
grant update (name) on suite.squads to authenticated;

create policy delete_lead on suite.squads for delete to authenticated
  using (id = any (array(select suite.my_squads('lead'))));
grant delete on suite.squads to authenticated;
