-- The squads the caller reads; role is empty for an admin of the workspace who is no member.
create or replace view api.squads with (security_invoker = true) as
select squad.id, squad.workspace_id, squad.name, membership.role, squad.created_at
from suite.squads as squad
left join bellwire.resources as scope on scope.type = 'squad' and scope.ref = squad.id::text
left join bellwire.memberships as membership
  on membership.scope_id = scope.id and membership.user_id = bellwire.current_user_id();
comment on view api.squads is 'Squads the caller reads.';
comment on column api.squads.id is 'The key.';
comment on column api.squads.workspace_id is 'The tenant.';
comment on column api.squads.name is 'What people call it.';
comment on column api.squads.role is 'The caller''s role in it. Null: an admin of the workspace who is no member.';
comment on column api.squads.created_at is 'When it was made.';
grant select on api.squads to authenticated;
