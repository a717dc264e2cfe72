-- Invites a member of the workspace into a squad; they are told, and decide. Inviting twice is one invitation.
-- Called by: authenticated.
-- Errors: P0002 unknown squad, or a person outside the workspace; 42501 for less than a lead; 23505 for a member.
create or replace function api.invite_to_squad(to_squad_id bigint, member_id bigint)
returns table (id bigint, squad_id bigint, user_id bigint, created_at timestamptz)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  person bellwire.users;
begin
  perform suite.require_role('squad', to_squad_id, 'lead');
  person := suite.workspace_member(to_squad_id, member_id);
  if exists (
    select from suite.squad_members as membership
    where membership.squad_id = to_squad_id and membership.user_id = person.id)
  then
    raise exception 'this person is a member already'
      using errcode = '23505', hint = 'Change their role instead.';
  end if;
  insert into suite.squad_invitations as invitation (squad_id, user_id, invited_by)
  values (to_squad_id, person.id, bellwire.current_user_id())
  on conflict do nothing;
  return query
    select invitation.id, invitation.squad_id, invitation.user_id, invitation.created_at
    from suite.squad_invitations as invitation
    where invitation.squad_id = to_squad_id
      and invitation.user_id = person.id
      and invitation.accepted_at is null;
end
$$;

comment on function api.invite_to_squad(bigint, bigint) is 'Invites a person into a squad.';

revoke all on function api.invite_to_squad(bigint, bigint) from public;
grant execute on function api.invite_to_squad(bigint, bigint) to authenticated;
