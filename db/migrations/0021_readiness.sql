-- Whether a database is ready is read from the migrations themselves: a table that is there says nothing of its age.
set local role bellwire_definer;
drop function if exists bellwire.readiness();
reset role;

-- The notes of the migrations belong to whoever migrates.
grant select on bellwire.schema_migrations to bellwire_definer;
