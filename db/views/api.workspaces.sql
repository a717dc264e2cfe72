-- The caller's workspaces and their role in each.
create or replace view api.workspaces with (security_invoker = true) as
select workspace.id, workspace.name, membership.role, workspace.created_at
from bellwire.workspaces as workspace
join bellwire.resources as root on root.workspace_id = workspace.id and root.parent_id is null
left join bellwire.memberships as membership
  on membership.scope_id = root.id and membership.user_id = bellwire.current_user_id();
comment on view api.workspaces is 'Workspaces the caller belongs to.';
comment on column api.workspaces.id is 'The key.';
comment on column api.workspaces.name is 'What people call it.';
comment on column api.workspaces.role is 'The caller''s role in it.';
comment on column api.workspaces.created_at is 'When it was made.';
grant select on api.workspaces to authenticated;
