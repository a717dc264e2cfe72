-- The caller's workspaces and their role in each.
create or replace view api.workspaces with (security_invoker = true) as
select workspace.id, workspace.name, membership.role, workspace.created_at
from bellwire.workspaces as workspace
join bellwire.resources as root on root.workspace_id = workspace.id and root.parent_id is null
left join bellwire.memberships as membership
  on membership.scope_id = root.id and membership.user_id = bellwire.current_user_id();
comment on view api.workspaces is 'Workspaces the caller belongs to.';
grant select on api.workspaces to authenticated;
