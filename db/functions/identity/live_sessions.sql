-- Of these digests, the ones that still hold a live session of an active person: the sweep of open sockets.
-- Called by: bellwire_server, every minute.
-- Errors: none.
create or replace function identity.live_sessions(token_digests text[])
returns setof text
language plpgsql
stable
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
    select session.token_digest
    from identity.sessions as session
    join bellwire.users as person on person.id = session.user_id
    where session.token_digest = any (token_digests)
      and session.expires_at > now()
      and person.deactivated_at is null;
end
$$;

comment on function identity.live_sessions(text[]) is 'The digests among the given ones whose session is live.';

revoke all on function identity.live_sessions(text[]) from public;
grant execute on function identity.live_sessions(text[]) to bellwire_server;
