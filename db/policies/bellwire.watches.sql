-- A person sees their own watches; they change through api.watch() and api.unwatch().
select bellwire.close_table('bellwire.watches');

create policy select_definer on bellwire.watches for select to bellwire_definer using (true);
create policy insert_definer on bellwire.watches for insert to bellwire_definer with check (true);
create policy update_definer on bellwire.watches for update to bellwire_definer
  using (true)
  with check (true);
create policy delete_definer on bellwire.watches for delete to bellwire_definer using (true);
grant select, insert, update, delete on bellwire.watches to bellwire_definer;

create policy select_admin on bellwire.watches for select to bellwire_admin using (true);
grant select on bellwire.watches to bellwire_admin;

create policy select_own on bellwire.watches for select to authenticated
  using (user_id = (select bellwire.current_user_id()));
grant select on bellwire.watches to authenticated;
