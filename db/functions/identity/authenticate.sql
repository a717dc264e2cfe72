-- Who a session token belongs to: an unexpired session of an active person. Says as well whether it was last seen a
-- while ago, so that the server need not write at every request.
-- Called by: bellwire_server, on every request with a token.
-- Errors: none; no row when there is no such session.
create or replace function identity.authenticate(token_digest text)
returns table (
  user_id bigint,
  name text,
  email text,
  avatar_url text,
  is_admin boolean,
  expires_at timestamptz,
  is_stale boolean
)
language plpgsql
stable
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
    select
      person.id, person.name, person.email, person.avatar_url, person.is_admin, session.expires_at,
      session.last_seen_at < now() - interval '1 minute'
    from identity.sessions as session
    join bellwire.users as person on person.id = session.user_id
    where session.token_digest = authenticate.token_digest
      and session.expires_at > now()
      and person.deactivated_at is null;
end
$$;

comment on function identity.authenticate(text) is 'The person of a live session.';

revoke all on function identity.authenticate(text) from public;
grant execute on function identity.authenticate(text) to bellwire_server;
