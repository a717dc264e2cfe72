-- A person sees their own memberships; the rest comes from api functions.
select bellwire.close_table('bellwire.memberships');

create policy select_definer on bellwire.memberships for select to bellwire_definer using (true);
create policy insert_definer on bellwire.memberships for insert to bellwire_definer with check (true);
create policy update_definer on bellwire.memberships for update to bellwire_definer
  using (true)
  with check (true);
create policy delete_definer on bellwire.memberships for delete to bellwire_definer using (true);
grant select, insert, update, delete on bellwire.memberships to bellwire_definer;

create policy select_admin on bellwire.memberships for select to bellwire_admin using (true);
grant select on bellwire.memberships to bellwire_admin;

create policy select_own on bellwire.memberships for select to authenticated
  using (user_id = (select bellwire.current_user_id()));
grant select on bellwire.memberships to authenticated;
