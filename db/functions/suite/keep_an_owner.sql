-- A workspace keeps at least one owner whose account is active.
-- Called by: api functions that change or end a membership, as bellwire_definer.
-- Errors: 22023 with detail last_owner; 42501 when an admin would take an owner down.
create or replace function suite.keep_an_owner(workspace_id bigint, user_id bigint, new_role text)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform from bellwire.workspaces as workspace where workspace.id = keep_an_owner.workspace_id for no key update;
  if new_role is distinct from 'owner' and exists (
    select from suite.workspace_members as membership
    where membership.workspace_id = keep_an_owner.workspace_id
      and membership.user_id = keep_an_owner.user_id
      and membership.role = 'owner')
  then
    perform suite.require_role('workspace', workspace_id, 'owner');
    if not exists (
      select from suite.workspace_members as other
      join bellwire.users as person on person.id = other.user_id and person.deactivated_at is null
      where other.workspace_id = keep_an_owner.workspace_id
        and other.user_id <> keep_an_owner.user_id
        and other.role = 'owner')
    then
      raise exception 'a workspace keeps at least one owner'
        using errcode = '22023', detail = 'last_owner', hint = 'Make somebody else an owner first.';
    end if;
  end if;
end
$$;

comment on function suite.keep_an_owner(bigint, bigint, text) is 'Raises when the last owner of a workspace would go.';

revoke all on function suite.keep_an_owner(bigint, bigint, text) from public;
