-- Who is asking: the subject of the request's claims, null when there is none. Everything that says "me" reads it here.
-- Plain SQL without SET so that it is inlined into policies.
-- Called by: policies, rules and api functions; any role.
-- Errors: none; a subject that is not a number is nobody.
create or replace function bellwire.current_user_id()
returns bigint
language sql
stable
parallel safe
as $$
  select pg_catalog.substring(
    nullif(pg_catalog.current_setting('request.jwt.claims', true), '')::pg_catalog.jsonb operator(pg_catalog.->>) 'sub',
    '^[0-9]{1,18}$'
  )::pg_catalog.int8
$$;

comment on function bellwire.current_user_id() is 'The id of the user the request acts for; null for the system.';

revoke all on function bellwire.current_user_id() from public;
grant execute on function bellwire.current_user_id()
  to anon, authenticated, service, bellwire_server, bellwire_worker, bellwire_admin, bellwire_owner;
