-- The squads the caller reads; role is empty for an admin of the workspace who is no member.
create or replace view api.squads with (security_invoker = true) as
select squad.id, squad.workspace_id, squad.name, membership.role, squad.created_at
from suite.squads as squad
left join bellwire.resources as scope on scope.type = 'squad' and scope.ref = squad.id::text
left join bellwire.memberships as membership
  on membership.scope_id = scope.id and membership.user_id = bellwire.current_user_id();
comment on view api.squads is 'Squads the caller reads.';
grant select on api.squads to authenticated;
