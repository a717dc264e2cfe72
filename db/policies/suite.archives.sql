-- Guests read, members write, leads delete.
select bellwire.close_table('suite.archives');

create policy select_definer on suite.archives for select to bellwire_definer using (true);
create policy insert_definer on suite.archives for insert to bellwire_definer with check (true);
create policy update_definer on suite.archives for update to bellwire_definer using (true) with check (true);
create policy delete_definer on suite.archives for delete to bellwire_definer using (true);
grant select, insert, update, delete on suite.archives to bellwire_definer;

create policy select_admin on suite.archives for select to bellwire_admin using (true);
grant select on suite.archives to bellwire_admin;

create policy select_guest on suite.archives for select to authenticated
  using (squad_id = any (array(select suite.my_squads('guest'))));
grant select on suite.archives to authenticated;

create policy insert_member on suite.archives for insert to authenticated
  with check (squad_id = any (array(select suite.my_squads('member'))));
grant insert (squad_id, name) on suite.archives to authenticated;

create policy update_member on suite.archives for update to authenticated
  using (squad_id = any (array(select suite.my_squads('member'))))
  with check (squad_id = any (array(select suite.my_squads('member'))));
grant update (name) on suite.archives to authenticated;

create policy delete_lead on suite.archives for delete to authenticated
  using (squad_id = any (array(select suite.my_squads('lead'))));
grant delete on suite.archives to authenticated;
