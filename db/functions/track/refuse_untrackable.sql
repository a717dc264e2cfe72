-- Refuses what cannot be followed, or could be followed only in part: a write that goes unseen is worse than a call that
-- is refused. A view has no rows of its own; a foreign table has no transition tables, and below a partitioned table it
-- would make the application's own writes fail; a partition's rows come through its parent too, where its triggers do
-- not fire; a temporary table goes with the session.
-- Called by: track(), track_members() and track_users().
-- Errors: 22023 with what to do instead.
create or replace function bellwire.refuse_untrackable(of_table regclass, of_call text)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  class pg_catalog.pg_class;
  offending regclass;
begin
  select known.* into class from pg_catalog.pg_class as known where known.oid = of_table;
  if class.relkind is null or class.relkind not in ('r', 'p') or class.relpersistence = 't' then
    raise exception '% cannot be tracked: it is no permanent table of this database', of_table
      using errcode = '22023',
        hint = 'Views, materialized, foreign and temporary tables cannot; track the tables that hold the rows, where they are.';
  end if;

  select above.inhparent into offending from pg_catalog.pg_inherits as above where above.inhrelid = of_table limit 1;
  if found then
    raise exception '% cannot be tracked: its rows are written through % too', of_table, offending
      using errcode = '22023', hint = format('Track %s: everything below it is followed as well.', offending);
  end if;

  select member into offending
  from bellwire.table_family(of_table) as member
  join pg_catalog.pg_class as known on known.oid = member and known.relkind = 'f'
  limit 1;
  if found then
    raise exception '% cannot be tracked: % below it is a foreign table', of_table, offending
      using errcode = '22023', hint = 'Detach it: Postgres cannot collect the changed rows of a foreign table.';
  end if;

  select tracked.table_name into offending
  from bellwire.tracked_tables as tracked
  where tracked.table_name <> of_table
    and tracked.call = of_call
    and tracked.table_name in (select member from bellwire.table_family(of_table) as member)
  limit 1;
  if found then
    raise exception '% cannot be tracked: % below it is tracked by itself', of_table, offending
      using errcode = '22023', hint = format('select bellwire.untrack(%L) first.', offending);
  end if;
end
$$;

comment on function bellwire.refuse_untrackable(regclass, text) is 'Raises for a table whose changes could not all be followed.';

revoke all on function bellwire.refuse_untrackable(regclass, text) from public;
grant execute on function bellwire.refuse_untrackable(regclass, text) to bellwire_admin;
