-- The figures of the rules; an administrator may change them.
select bellwire.close_table('bellwire.settings');

create policy select_definer on bellwire.settings for select to bellwire_definer using (true);
grant select on bellwire.settings to bellwire_definer;

create policy select_admin on bellwire.settings for select to bellwire_admin using (true);
grant select on bellwire.settings to bellwire_admin;

create policy update_admin on bellwire.settings for update to bellwire_admin using (true) with check (true);
grant update (value) on bellwire.settings to bellwire_admin;
