-- The invited see their own.
select bellwire.close_table('suite.squad_invitations');

create policy select_definer on suite.squad_invitations for select to bellwire_definer using (true);
create policy insert_definer on suite.squad_invitations for insert to bellwire_definer with check (true);
create policy update_definer on suite.squad_invitations for update to bellwire_definer
  using (true)
  with check (true);
create policy delete_definer on suite.squad_invitations for delete to bellwire_definer using (true);
grant select, insert, update, delete on suite.squad_invitations to bellwire_definer;

create policy select_admin on suite.squad_invitations for select to bellwire_admin using (true);
grant select on suite.squad_invitations to bellwire_admin;

create policy select_own on suite.squad_invitations for select to authenticated
  using (user_id = (select bellwire.current_user_id()));
grant select on suite.squad_invitations to authenticated;
