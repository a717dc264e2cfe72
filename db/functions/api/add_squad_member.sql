-- Adds a member of the workspace to a squad, or changes their role.
-- Called by: authenticated.
-- Errors: P0002 unknown squad, or a person outside the workspace; 42501 for less than a lead; 22023 for an unknown
-- role.
create or replace function api.add_squad_member(squad_id bigint, member_id bigint, member_role text)
returns table (user_id bigint, name text, role text)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  person bellwire.users;
begin
  perform suite.require_role('squad', squad_id, 'lead');
  if member_role is null or member_role not in ('owner', 'lead', 'member', 'guest') then
    raise exception 'a role in a squad is owner, lead, member or guest'
      using errcode = '22023', hint = 'Send one of these four words.';
  end if;
  if member_role = 'owner' and not exists (
    select from suite.squads as squad
    where squad.id = add_squad_member.squad_id and squad.workspace_id in (select bellwire.my_workspaces('admin')))
  then
    perform suite.require_role('squad', squad_id, 'owner');
  end if;
  person := suite.workspace_member(squad_id, member_id);
  insert into suite.squad_members as membership (squad_id, user_id, role)
  values (squad_id, person.id, member_role)
  on conflict on constraint squad_members_pkey do update set role = excluded.role;
  return query select person.id, person.name, member_role;
end
$$;

comment on function api.add_squad_member(bigint, bigint, text) is 'Adds a person to a squad or changes their role.';

revoke all on function api.add_squad_member(bigint, bigint, text) from public;
grant execute on function api.add_squad_member(bigint, bigint, text) to authenticated;
