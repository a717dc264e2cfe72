-- Reference rows; an administrator adds kinds.
select bellwire.close_table('bellwire.notification_kinds');

create policy select_definer on bellwire.notification_kinds for select to bellwire_definer using (true);
grant select on bellwire.notification_kinds to bellwire_definer;

create policy select_admin on bellwire.notification_kinds for select to bellwire_admin using (true);
grant select on bellwire.notification_kinds to bellwire_admin;

create policy select_all on bellwire.notification_kinds for select to authenticated, service using (true);
grant select on bellwire.notification_kinds to authenticated, service;

create policy insert_admin on bellwire.notification_kinds for insert to bellwire_admin with check (true);
grant insert on bellwire.notification_kinds to bellwire_admin;

create policy update_admin on bellwire.notification_kinds for update to bellwire_admin
  using (true)
  with check (true);
grant update (description, email_by_default, title_template, body_template, is_scoped) on bellwire.notification_kinds to bellwire_admin;
