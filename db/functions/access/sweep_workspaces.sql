-- Trigger function: what hot tables hold of a deleted workspace goes with it. They have no foreign key (see activity_log).
-- Called by: trigger _100_sweep on bellwire.workspaces, after each delete statement.
-- Errors: none.
create or replace function bellwire.sweep_workspaces()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  delete from bellwire.notifications as gone using removed where gone.workspace_id = removed.id;
  delete from bellwire.activity_log as gone using removed where gone.workspace_id = removed.id;
  delete from bellwire.webhook_events as gone using removed where gone.workspace_id = removed.id;
  return null;
end
$$;

comment on function bellwire.sweep_workspaces() is 'Deletes notifications, activity and webhook events of deleted workspaces.';

revoke all on function bellwire.sweep_workspaces() from public;
grant execute on function bellwire.sweep_workspaces() to bellwire_owner;
