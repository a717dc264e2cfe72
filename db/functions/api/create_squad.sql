-- Makes a squad; the caller becomes its owner.
-- Called by: authenticated.
-- Errors: P0002 unknown workspace; 42501 for a guest; 23514 for an empty or long name.
create or replace function api.create_squad(workspace_id bigint, name text)
returns setof api.squads
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  caller_id constant bigint := bellwire.current_user_id();
  new_squad suite.squads;
begin
  perform suite.require_role('workspace', workspace_id, 'member');
  insert into suite.squads as squad (workspace_id, name, created_by)
  values (workspace_id, name, caller_id)
  returning squad.* into new_squad;
  insert into suite.squad_members (squad_id, user_id, role) values (new_squad.id, caller_id, 'owner');
  return query select new_squad.id, new_squad.workspace_id, new_squad.name, 'owner'::text, new_squad.created_at;
end
$$;

comment on function api.create_squad(bigint, text) is 'Makes a squad owned by the caller.';

revoke all on function api.create_squad(bigint, text) from public;
grant execute on function api.create_squad(bigint, text) to authenticated;
