-- The functions of administration, retention and administrators; nobody updates.
select bellwire.close_table('bellwire.webhook_changes');

create policy select_definer on bellwire.webhook_changes for select to bellwire_definer using (true);
create policy insert_definer on bellwire.webhook_changes for insert to bellwire_definer with check (true);
create policy delete_definer on bellwire.webhook_changes for delete to bellwire_definer using (true);
grant select, insert, delete on bellwire.webhook_changes to bellwire_definer;

-- To lock a row takes the right to update one; no new row would pass.
create policy lock_definer on bellwire.webhook_changes for update to bellwire_definer using (true) with check (false);
grant update (id) on bellwire.webhook_changes to bellwire_definer;

create policy select_admin on bellwire.webhook_changes for select to bellwire_admin using (true);
grant select on bellwire.webhook_changes to bellwire_admin;
