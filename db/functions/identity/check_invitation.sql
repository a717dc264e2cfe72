-- Whether the caller may make this invitation.
-- Called by: invite(), as bellwire_definer.
-- Errors: those of invite().
create or replace function identity.check_invitation(
  to_email text,
  to_workspace_id bigint,
  to_role text,
  to_squad_id bigint,
  to_squad_role text
)
returns void
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  if to_workspace_id is null then
    perform identity.require_admin();
    if to_role is not null or to_squad_id is not null or to_squad_role is not null then
      raise exception 'a role and a squad belong to a workspace'
        using errcode = '22023', hint = 'Name the workspace, or leave them out.';
    end if;
    if exists (select from bellwire.users as person where lower(person.email) = lower(to_email)) then
      raise exception 'there is an account with this address already'
        using errcode = '23505', detail = 'account_exists', hint = 'Invite them to a workspace.';
    end if;
    return;
  end if;
  perform suite.require_role('workspace', to_workspace_id, 'admin');
  if to_role is null or to_role not in ('owner', 'admin', 'member', 'guest') then
    raise exception 'a role in a workspace is owner, admin, member or guest'
      using errcode = '22023', hint = 'Send one of these four words.';
  end if;
  if to_role = 'owner' and not exists (
    select from suite.workspace_members as membership
    where membership.workspace_id = to_workspace_id
      and membership.user_id = bellwire.current_user_id()
      and membership.role = 'owner')
  then
    raise exception 'only an owner makes an owner'
      using errcode = '42501', hint = 'Invite them as an admin, or ask an owner.';
  end if;
  if to_squad_id is not null and not exists (
    select from suite.squads as squad where squad.id = to_squad_id and squad.workspace_id = to_workspace_id)
  then
    raise exception 'there is no such squad in this workspace'
      using errcode = 'P0002', hint = 'Name one of its own.';
  end if;
  if (to_squad_id is null) <> (to_squad_role is null)
    or to_squad_role not in ('owner', 'lead', 'member', 'guest')
  then
    raise exception 'a role in a squad is owner, lead, member or guest'
      using errcode = '22023', hint = 'Send both or neither, the squad and one of these four words.';
  end if;
  if exists (
    select from suite.workspace_members as membership
    join bellwire.users as person on person.id = membership.user_id
    where membership.workspace_id = to_workspace_id and lower(person.email) = lower(to_email))
  then
    raise exception 'this person is a member already'
      using errcode = '23505', detail = 'already_member', hint = 'Change their role instead.';
  end if;
end
$$;

comment on function identity.check_invitation(text, bigint, text, bigint, text) is
  'Raises unless the caller may invite this address so.';

revoke all on function identity.check_invitation(text, bigint, text, bigint, text) from public;
