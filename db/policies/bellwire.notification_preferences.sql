-- A person sees their own; they change through api.set_notification_preferences().
select bellwire.close_table('bellwire.notification_preferences');

create policy select_definer on bellwire.notification_preferences for select to bellwire_definer using (true);
create policy insert_definer on bellwire.notification_preferences for insert to bellwire_definer
  with check (true);
create policy update_definer on bellwire.notification_preferences for update to bellwire_definer
  using (true)
  with check (true);
create policy delete_definer on bellwire.notification_preferences for delete to bellwire_definer using (true);
grant select, insert, update, delete on bellwire.notification_preferences to bellwire_definer;

create policy select_admin on bellwire.notification_preferences for select to bellwire_admin using (true);
grant select on bellwire.notification_preferences to bellwire_admin;

create policy select_own on bellwire.notification_preferences for select to authenticated
  using (user_id = (select bellwire.current_user_id()));
grant select on bellwire.notification_preferences to authenticated;
