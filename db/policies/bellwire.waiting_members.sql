-- Written by the functions of track_members(); administrators look.
select bellwire.close_table('bellwire.waiting_members');

create policy select_definer on bellwire.waiting_members for select to bellwire_definer using (true);
create policy insert_definer on bellwire.waiting_members for insert to bellwire_definer with check (true);
create policy update_definer on bellwire.waiting_members for update to bellwire_definer using (true) with check (true);
create policy delete_definer on bellwire.waiting_members for delete to bellwire_definer using (true);
grant select, insert, update, delete on bellwire.waiting_members to bellwire_definer;

create policy select_admin on bellwire.waiting_members for select to bellwire_admin using (true);
grant select on bellwire.waiting_members to bellwire_admin;
