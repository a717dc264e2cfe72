-- Notes that a session is in use, at most once a minute. One that somebody is changing at the moment is passed over: a
-- note is not worth waiting for.
-- Called by: bellwire_server, beside a request and never before its answer.
-- Errors: none.
create or replace function identity.touch_session(token_digest text)
returns void
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  update identity.sessions as session
  set last_seen_at = now()
  where session.token_digest = (
    select seen.token_digest
    from identity.sessions as seen
    where seen.token_digest = touch_session.token_digest and seen.last_seen_at < now() - interval '1 minute'
    for no key update skip locked);
end
$$;

comment on function identity.touch_session(text) is 'Sets when a session was last seen.';

revoke all on function identity.touch_session(text) from public;
grant execute on function identity.touch_session(text) to bellwire_server;
