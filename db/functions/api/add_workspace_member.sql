-- Adds a person who has an account, or changes their role. An owner is made by an owner only.
-- Called by: authenticated.
-- Errors: P0002 unknown workspace or person; 42501 for less than an admin; 22023 for an unknown role.
create or replace function api.add_workspace_member(workspace_id bigint, email text, member_role text)
returns table (user_id bigint, name text, role text)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  person bellwire.users;
begin
  perform suite.require_role('workspace', workspace_id, 'admin');
  if member_role is null or member_role not in ('owner', 'admin', 'member', 'guest') then
    raise exception 'a role in a workspace is owner, admin, member or guest'
      using errcode = '22023', hint = 'Send one of these four words.';
  end if;
  if member_role = 'owner' then
    perform suite.require_role('workspace', workspace_id, 'owner');
  end if;
  select candidate.* into person
  from bellwire.users as candidate
  where lower(candidate.email) = lower(add_workspace_member.email) and candidate.deactivated_at is null;
  if person.id is null then
    raise exception 'nobody has an account with this address'
      using errcode = 'P0002', hint = 'Ask them to create an account first, or check the spelling.';
  end if;
  perform suite.keep_an_owner(workspace_id, person.id, member_role);
  insert into suite.workspace_members as membership (workspace_id, user_id, role)
  values (workspace_id, person.id, member_role)
  on conflict on constraint workspace_members_pkey do update set role = excluded.role;
  return query select person.id, person.name, member_role;
end
$$;

comment on function api.add_workspace_member(bigint, text, text) is
  'Adds a person to a workspace or changes their role.';

revoke all on function api.add_workspace_member(bigint, text, text) from public;
grant execute on function api.add_workspace_member(bigint, text, text) to authenticated;
