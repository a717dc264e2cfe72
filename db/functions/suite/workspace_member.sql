-- An active person who belongs to the workspace of a squad, and so may be brought into it.
-- Called by: api functions, as bellwire_definer.
-- Errors: P0002 for anybody else.
create or replace function suite.workspace_member(squad_id bigint, user_id bigint)
returns bellwire.users
language plpgsql
stable
set search_path = ''
as $$
declare
  found_person bellwire.users;
begin
  select person.* into found_person
  from suite.squads as squad
  join suite.workspace_members as membership on membership.workspace_id = squad.workspace_id
  join bellwire.users as person on person.id = membership.user_id and person.deactivated_at is null
  where squad.id = workspace_member.squad_id and person.id = workspace_member.user_id;
  if found_person.id is null then
    raise exception 'there is no such person in this workspace'
      using errcode = 'P0002', hint = 'Add them to the workspace first.';
  end if;
  return found_person;
end
$$;

comment on function suite.workspace_member(bigint, bigint) is 'The member of a squad''s workspace with this id.';

revoke all on function suite.workspace_member(bigint, bigint) from public;
