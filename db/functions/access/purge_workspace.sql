-- Deletes a workspace with everything in it, its history included. For good.
-- Called by: bellwire_admin.
-- Errors: P0002 for an unknown workspace.
create or replace function bellwire.purge_workspace(id bigint)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  delete from bellwire.workspaces as workspace where workspace.id = purge_workspace.id;
  if not found then
    raise exception 'there is no workspace %', id
      using errcode = 'P0002', hint = 'select id, name from bellwire.workspaces';
  end if;
end
$$;

comment on function bellwire.purge_workspace(bigint) is 'Deletes a workspace and everything in it.';

revoke all on function bellwire.purge_workspace(bigint) from public;
grant execute on function bellwire.purge_workspace(bigint) to bellwire_admin;
