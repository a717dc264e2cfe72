-- For administrators, who also clear it.
select bellwire.close_table('bellwire.rule_failures');

create policy select_definer on bellwire.rule_failures for select to bellwire_definer using (true);
create policy insert_definer on bellwire.rule_failures for insert to bellwire_definer with check (true);
create policy delete_definer on bellwire.rule_failures for delete to bellwire_definer using (true);
grant select, insert, delete on bellwire.rule_failures to bellwire_definer;

-- To lock a row takes the right to update one; no new row would pass.
create policy lock_definer on bellwire.rule_failures for update to bellwire_definer using (true) with check (false);
grant update (id) on bellwire.rule_failures to bellwire_definer;

create policy select_admin on bellwire.rule_failures for select to bellwire_admin using (true);
grant select on bellwire.rule_failures to bellwire_admin;

create policy delete_admin on bellwire.rule_failures for delete to bellwire_admin using (true);
grant delete on bellwire.rule_failures to bellwire_admin;
