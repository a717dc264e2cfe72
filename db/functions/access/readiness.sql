-- Is this database one that this version can work on? Cheap, for /readyz.
-- As its owner, who gets into every schema: a worker does not.
-- Called by: bellwire_server, bellwire_worker.
-- Errors: none.
create or replace function bellwire.readiness()
returns table (is_migrated boolean)
language sql
stable
security definer
set search_path = ''
as $$
  select pg_catalog.to_regclass('bellwire.notifications') is not null
    and pg_catalog.to_regclass('identity.sessions') is not null
$$;

comment on function bellwire.readiness() is 'True once the migrations have been applied.';

revoke all on function bellwire.readiness() from public;
grant execute on function bellwire.readiness() to bellwire_server, bellwire_worker;
