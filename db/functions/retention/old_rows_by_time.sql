-- Locks the next old rows in the order of an index over those that may go, the oldest first; nothing else is read.
-- The statement is planned anew for each batch: its cost is nothing to that of the deleting, and no plan is kept from a
-- time when the table was small. Sequential scans are off, because statistics may be from that time, too.
-- Called by: prune_batch(), as bellwire_definer.
-- Errors: none of its own.
-- Returns: where they are, and the last one as jsonb; null when there are no more.
create or replace function bellwire.old_rows_by_time(
  table_name regclass,
  at_column text,
  key_column text,
  condition text,
  before timestamptz,
  max_count integer,
  after jsonb,
  out places tid[],
  out next jsonb
)
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  execute format(
    $query$
      with locked as materialized (
        select old.ctid as place, old.%2$I as at, old.%3$I as key
        from %1$s as old
        where %4$s
          and old.%2$I < $1
          and (old.%2$I, old.%3$I) > (%5$L, %6$L)
        order by old.%2$I, old.%3$I
        limit $2
        for update of old skip locked
      )
      select
        coalesce(array_agg(locked.place), '{}'),
        case when count(*) = $2 then
          (array_agg(jsonb_build_object('at', locked.at, 'key', locked.key) order by locked.at desc, locked.key desc))[1]
        end
      from locked
    $query$,
    table_name, at_column, key_column, condition,
    coalesce(after ->> 'at', '-infinity'), coalesce(after ->> 'key', '0'))
  into places, next
  using before, max_count;
end
$$;

comment on function bellwire.old_rows_by_time(regclass, text, text, text, timestamptz, integer, jsonb) is
  'Locks the next rows older than a time, in the order of time.';

revoke all on function bellwire.old_rows_by_time(regclass, text, text, text, timestamptz, integer, jsonb) from public;
