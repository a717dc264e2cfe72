-- Deletes a squad. Its archives stay without a squad, so nobody reads them until an administrator gives them to
-- another.
-- Called by: authenticated.
-- Errors: P0002, 42501 for less than a lead.
create or replace function api.delete_squad(id bigint)
returns void
language plpgsql
set search_path = ''
as $$
begin
  delete from suite.squads as squad where squad.id = delete_squad.id;
  if not found then
    perform suite.refuse_invisible(
      'squad', exists (select from suite.squads as squad where squad.id = delete_squad.id));
  end if;
end
$$;

comment on function api.delete_squad(bigint) is 'Deletes a squad.';

revoke all on function api.delete_squad(bigint) from public;
grant execute on function api.delete_squad(bigint) to authenticated;
