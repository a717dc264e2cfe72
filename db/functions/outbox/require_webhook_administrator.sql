-- The check at the head of what is done in a workspace: one the caller does not see is not there, one they see and do not
-- run is forbidden.
-- Called by: api functions, as bellwire_definer.
-- Errors: P0002, 42501.
create or replace function bellwire.require_webhook_administrator(workspace_id bigint)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if bellwire.administers_webhooks(workspace_id) then
    if workspace_id is null or exists (
      select from bellwire.workspaces as known where known.id = require_webhook_administrator.workspace_id)
    then
      return;
    end if;
  elsif workspace_id is null then
    raise exception 'webhooks of every workspace are administered by whoever runs the installation'
      using errcode = '42501', hint = 'Name a workspace that you run.';
  elsif workspace_id in (select bellwire.my_workspaces()) then
    raise exception 'this needs the role admin or a higher one'
      using errcode = '42501', hint = 'Ask an admin or an owner of the workspace.';
  end if;
  raise exception 'there is no such workspace'
    using errcode = 'P0002', hint = 'It was deleted, or you do not belong to it.';
end
$$;

comment on function bellwire.require_webhook_administrator(bigint) is
  'Raises unless the caller may administer the webhook subscriptions of a workspace.';

revoke all on function bellwire.require_webhook_administrator(bigint) from public;
