-- The invited joins the squad.
-- Called by: authenticated.
-- Errors: P0002 for an invitation that is not open or not the caller's.
create or replace function api.accept_squad_invitation(id bigint)
returns table (user_id bigint, name text, role text)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  caller_id constant bigint := bellwire.current_user_id();
  joined_squad_id bigint;
begin
  update suite.squad_invitations as invitation
  set accepted_at = now()
  where invitation.id = accept_squad_invitation.id
    and invitation.user_id = caller_id
    and invitation.accepted_at is null
  returning invitation.squad_id into joined_squad_id;
  if joined_squad_id is null then
    raise exception 'there is no such invitation'
      using errcode = 'P0002', hint = 'It was accepted already, or it was meant for somebody else.';
  end if;
  perform suite.workspace_member(joined_squad_id, caller_id);
  insert into suite.squad_members (squad_id, user_id, role)
  values (joined_squad_id, caller_id, 'member')
  on conflict do nothing;
  return query
    select person.id, person.name, 'member'::text from bellwire.users as person where person.id = caller_id;
end
$$;

comment on function api.accept_squad_invitation(bigint) is 'Accepts an invitation.';

revoke all on function api.accept_squad_invitation(bigint) from public;
grant execute on function api.accept_squad_invitation(bigint) to authenticated;
