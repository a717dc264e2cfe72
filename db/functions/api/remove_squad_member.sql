-- Ends a membership of a squad. Everybody may leave; a lead removes others.
-- Called by: authenticated.
-- Errors: P0002 unknown squad or not a member; 42501 for less than a lead.
create or replace function api.remove_squad_member(squad_id bigint, user_id bigint)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform suite.require_role('squad', squad_id, case when user_id = bellwire.current_user_id() then 'guest' else 'lead' end);
  delete from suite.squad_members as membership
  where membership.squad_id = remove_squad_member.squad_id and membership.user_id = remove_squad_member.user_id;
  if not found then
    raise exception 'this person is not a member'
      using errcode = 'P0002', hint = 'The list of members shows who is.';
  end if;
end
$$;

comment on function api.remove_squad_member(bigint, bigint) is 'Ends a membership of a squad.';

revoke all on function api.remove_squad_member(bigint, bigint) from public;
grant execute on function api.remove_squad_member(bigint, bigint) to authenticated;
