-- Ends one session. Presenting the token is the authorisation.
-- Called by: bellwire_server.
-- Errors: none.
-- Returns: whether there was one.
create or replace function identity.close_session(token_digest text)
returns boolean
language plpgsql
security definer
set search_path = ''
as $$
begin
  delete from identity.sessions as session where session.token_digest = close_session.token_digest;
  return found;
end
$$;

comment on function identity.close_session(text) is 'Deletes a session; true when it existed.';

revoke all on function identity.close_session(text) from public;
grant execute on function identity.close_session(text) to bellwire_server;
