-- Signs out: ends a session, and the one that replaced it if a change of credentials was committed first. Presenting the
-- token is the authorisation. Two statements, because the first may wait for such a change, and only the second then sees
-- what it has written.
-- Called by: bellwire_server.
-- Errors: none.
-- Returns: the digests of what was ended, for their sockets.
-- Source: reference 001, "Sign-out propagates".
create or replace function identity.close_session(token_digest text)
returns setof text
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
    delete from identity.sessions as session
    where session.token_digest = close_session.token_digest
    returning session.token_digest;
  return query
    delete from identity.sessions as session
    where session.rotated_from = close_session.token_digest
    returning session.token_digest;
end
$$;

comment on function identity.close_session(text) is
  'Ends a session and its replacement; returns the digests of what was there.';

revoke all on function identity.close_session(text) from public;
grant execute on function identity.close_session(text) to bellwire_server;
