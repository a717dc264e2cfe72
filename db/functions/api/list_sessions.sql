-- Where the caller is signed in, the latest use first. The server passes the digest of the request's own token.
-- Called by: authenticated.
-- Errors: none.
create or replace function api.list_sessions(current_digest text)
returns table (
  id bigint,
  ip text,
  user_agent text,
  signed_in_at timestamptz,
  last_seen_at timestamptz,
  expires_at timestamptz,
  is_current boolean
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
      session.id, session.ip, session.user_agent, session.signed_in_at, session.last_seen_at, session.expires_at,
      session.token_digest is not distinct from current_digest
    from identity.sessions as session
    join bellwire.users as person on person.id = session.user_id and person.deactivated_at is null
    where session.user_id = bellwire.current_user_id() and session.expires_at > now()
    order by session.last_seen_at desc, session.id desc
    limit 500;
end
$$;

comment on function api.list_sessions(text) is 'The sessions of the caller.';

revoke all on function api.list_sessions(text) from public;
grant execute on function api.list_sessions(text) to authenticated;
