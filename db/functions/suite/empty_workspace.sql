-- Trigger function: the archives of a workspace go with it, and their documents with them. The deletion of a squad leaves
-- its archives, for somebody else to take over; here nobody is left.
-- Called by: trigger _100_empty on bellwire.workspaces, before each row is deleted.
-- Errors: none.
create or replace function suite.empty_workspace()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  delete from suite.archives as archive
  using suite.squads as squad
  where squad.id = archive.squad_id and squad.workspace_id = old.id;
  return old;
end
$$;

comment on function suite.empty_workspace() is 'Deletes the archives of a deleted workspace.';

revoke all on function suite.empty_workspace() from public;
grant execute on function suite.empty_workspace() to bellwire_owner;
