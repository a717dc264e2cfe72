-- Ends one of the caller's sessions.
-- Called by: authenticated.
-- Errors: P0002 for a session that is not theirs.
-- Returns: its digest, for its sockets.
create or replace function api.end_session(id bigint)
returns text
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  ended text;
begin
  delete from identity.sessions as session
  where session.id = end_session.id and session.user_id = bellwire.current_user_id()
  returning session.token_digest into ended;
  if ended is null then
    raise exception 'there is no such session'
      using errcode = 'P0002', hint = 'It has ended already, or it is somebody else''s.';
  end if;
  return ended;
end
$$;

comment on function api.end_session(bigint) is 'Ends a session of the caller.';

revoke all on function api.end_session(bigint) from public;
grant execute on function api.end_session(bigint) to authenticated;
