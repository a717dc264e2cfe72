-- Makes a workspace; the caller becomes its owner.
-- Called by: authenticated.
-- Errors: 42501 for nobody; 23514 for an empty or long name.
create or replace function api.create_workspace(name text)
returns setof api.workspaces
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  caller_id constant bigint := bellwire.current_user_id();
  new_workspace bellwire.workspaces;
begin
  if not exists (select from bellwire.users as person where person.id = caller_id and person.deactivated_at is null) then
    raise exception 'only a person can make a workspace'
      using errcode = '42501', hint = 'Sign in first.';
  end if;
  insert into bellwire.workspaces as workspace (name) values (name) returning workspace.* into new_workspace;
  insert into suite.workspace_members (workspace_id, user_id, role) values (new_workspace.id, caller_id, 'owner');
  return query select new_workspace.id, new_workspace.name, 'owner'::text, new_workspace.created_at;
end
$$;

comment on function api.create_workspace(text) is 'Makes a workspace owned by the caller.';

revoke all on function api.create_workspace(text) from public;
grant execute on function api.create_workspace(text) to authenticated;
