-- A table and everything below it: its partitions and theirs, or the tables that inherit from it. A statement trigger
-- fires for the table a statement names and for no other, so what is to be noticed everywhere is attached everywhere.
-- Called by: attach_tracked_function(), refuse_untrackable(), forget_table().
-- Errors: none.
create or replace function bellwire.table_family(of_table regclass)
returns setof regclass
language sql
stable
set search_path = ''
as $$
  with recursive family as (
    select of_table::oid as member
    union
    select below.inhrelid from family join pg_catalog.pg_inherits as below on below.inhparent = family.member
  )
  select family.member::regclass from family
$$;

comment on function bellwire.table_family(regclass) is 'A table, its partitions and the tables that inherit from it.';

revoke all on function bellwire.table_family(regclass) from public;
grant execute on function bellwire.table_family(regclass) to bellwire_admin;
