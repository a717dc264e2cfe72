-- A person sees their own row; names of others come from bellwire.visible_people().
select bellwire.close_table('bellwire.users');

create policy select_definer on bellwire.users for select to bellwire_definer using (true);
create policy insert_definer on bellwire.users for insert to bellwire_definer with check (true);
create policy update_definer on bellwire.users for update to bellwire_definer using (true) with check (true);
grant select, insert, update on bellwire.users to bellwire_definer;

create policy select_admin on bellwire.users for select to bellwire_admin using (true);
grant select on bellwire.users to bellwire_admin;

create policy select_own on bellwire.users for select to authenticated
  using (id = (select bellwire.current_user_id()));
grant select on bellwire.users to authenticated;
