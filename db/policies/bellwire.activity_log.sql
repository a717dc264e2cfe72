-- Whoever reads a scope reads its history. Nobody updates; retention and the end of a workspace delete.
select bellwire.close_table('bellwire.activity_log');

create policy select_definer on bellwire.activity_log for select to bellwire_definer using (true);
create policy insert_definer on bellwire.activity_log for insert to bellwire_definer with check (true);
create policy delete_definer on bellwire.activity_log for delete to bellwire_definer using (true);
grant select, insert, delete on bellwire.activity_log to bellwire_definer;

-- To lock a row takes the right to update one; no new row would pass.
create policy lock_definer on bellwire.activity_log for update to bellwire_definer using (true) with check (false);
grant update (id) on bellwire.activity_log to bellwire_definer;

create policy select_admin on bellwire.activity_log for select to bellwire_admin using (true);
grant select on bellwire.activity_log to bellwire_admin;

create policy select_scope on bellwire.activity_log for select to authenticated
  using (scope_id = any (array(select bellwire.my_scopes())));
grant select on bellwire.activity_log to authenticated;
