-- Signs the caller out everywhere, or everywhere else.
-- Called by: authenticated.
-- Errors: none.
-- Returns: the digests that have ended, for their sockets.
create or replace function api.end_sessions(kept_digest text)
returns setof text
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  person bellwire.users;
begin
  -- As every other that ends sessions: who comes second waits here.
  person := identity.lock_person(bellwire.current_user_id());
  return query
    delete from identity.sessions as session
    where session.user_id = person.id and session.token_digest is distinct from kept_digest
    returning session.token_digest;
end
$$;

comment on function api.end_sessions(text) is 'Ends the sessions of the caller but one.';

revoke all on function api.end_sessions(text) from public;
grant execute on function api.end_sessions(text) to authenticated;
