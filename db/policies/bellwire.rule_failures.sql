-- For administrators, who also clear it.
select bellwire.close_table('bellwire.rule_failures');

create policy insert_definer on bellwire.rule_failures for insert to bellwire_definer with check (true);
grant insert on bellwire.rule_failures to bellwire_definer;

create policy select_admin on bellwire.rule_failures for select to bellwire_admin using (true);
grant select on bellwire.rule_failures to bellwire_admin;

create policy delete_admin on bellwire.rule_failures for delete to bellwire_admin using (true);
grant delete on bellwire.rule_failures to bellwire_admin;
