-- Is this database one that a version can work on: have all the migrations run that the version knows? Others may have run
-- too, so that a version goes on while the next one is put in its place. Cheap, for /readyz.
-- As its owner, who may read the names of the migrations.
-- Called by: bellwire_server, bellwire_worker.
-- Errors: none.
-- Source: reference 001, section 7, "migrations".
create or replace function bellwire.readiness(known_migrations text[] default '{}')
returns table (is_migrated boolean)
language sql
stable
security definer
set search_path = ''
as $$
  select not exists (
    select from unnest(known_migrations) as known(name)
    where not exists (select from bellwire.schema_migrations as applied where applied.name = known.name))
$$;

comment on function bellwire.readiness(text[]) is 'Whether these migrations have all been applied.';

revoke all on function bellwire.readiness(text[]) from public;
grant execute on function bellwire.readiness(text[]) to bellwire_server, bellwire_worker;
