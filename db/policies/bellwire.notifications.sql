-- A person sees their own inbox, and of it only what belongs to a scope they still read. They may mark it read and
-- nothing else. Rows are written by write_notifications() alone.
select bellwire.close_table('bellwire.notifications');

create policy select_definer on bellwire.notifications for select to bellwire_definer using (true);
create policy insert_definer on bellwire.notifications for insert to bellwire_definer with check (true);
create policy update_definer on bellwire.notifications for update to bellwire_definer
  using (true)
  with check (true);
create policy delete_definer on bellwire.notifications for delete to bellwire_definer using (true);
grant select, insert, update, delete on bellwire.notifications to bellwire_definer;

create policy select_admin on bellwire.notifications for select to bellwire_admin using (true);
grant select on bellwire.notifications to bellwire_admin;

create policy select_own on bellwire.notifications for select to authenticated
  using (
    user_id = (select bellwire.current_user_id())
    and deleted_at is null
    and (
      scope_id = any (array(select bellwire.my_scopes()))
      or scope_id is null and workspace_id = any (array(select bellwire.my_workspaces()))
    )
  );
grant select on bellwire.notifications to authenticated;

create policy update_own on bellwire.notifications for update to authenticated
  using (
    user_id = (select bellwire.current_user_id())
    and deleted_at is null
    and (
      scope_id = any (array(select bellwire.my_scopes()))
      or scope_id is null and workspace_id = any (array(select bellwire.my_workspaces()))
    )
  )
  with check (
    user_id = (select bellwire.current_user_id())
    and deleted_at is null
    and (
      scope_id = any (array(select bellwire.my_scopes()))
      or scope_id is null and workspace_id = any (array(select bellwire.my_workspaces()))
    )
  );
grant update (read_at) on bellwire.notifications to authenticated;
