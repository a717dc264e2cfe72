-- Guests read, members write. The check of an update is the USING clause alone: no grant lets a request role change the
-- squad or the archive of a row, so it stays where it was.
select bellwire.close_table('suite.logs');

create policy select_definer on suite.logs for select to bellwire_definer using (true);
create policy insert_definer on suite.logs for insert to bellwire_definer with check (true);
create policy update_definer on suite.logs for update to bellwire_definer using (true) with check (true);
create policy delete_definer on suite.logs for delete to bellwire_definer using (true);
grant select, insert, update, delete on suite.logs to bellwire_definer;

create policy select_admin on suite.logs for select to bellwire_admin using (true);
grant select on suite.logs to bellwire_admin;

create policy select_guest on suite.logs for select to authenticated
  using (squad_id = any (array(select suite.my_squads('guest'))));
grant select on suite.logs to authenticated;

create policy insert_member on suite.logs for insert to authenticated
  with check (squad_id = any (array(select suite.my_squads('member'))));
grant insert (archive_id, parent_id, title, html) on suite.logs to authenticated;

create policy update_member on suite.logs for update to authenticated
  using (squad_id = any (array(select suite.my_squads('member'))))
  with check (true);
grant update (title, html, parent_id, restored_from_id, restored_at) on suite.logs to authenticated;

create policy delete_member on suite.logs for delete to authenticated
  using (squad_id = any (array(select suite.my_squads('member'))));
grant delete on suite.logs to authenticated;
