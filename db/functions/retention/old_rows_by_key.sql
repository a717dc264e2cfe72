-- Locks the old ones among the next rows of a table in the order of its key. For tables to which only rows are added:
-- keys are given in the order of time, but for the length of a transaction, so the first stretch without an old row is the
-- end. An index by time would be paid for at every write.
-- Planned anew for each batch, and without sequential scans: see old_rows_by_time().
-- Called by: prune_batch(), as bellwire_definer.
-- Errors: none of its own.
-- Returns: where they are, and the last one read as jsonb; null when there are no more.
create or replace function bellwire.old_rows_by_key(
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
declare
  first_key constant bigint := coalesce(after ->> 'key', '0')::bigint;
  last_key bigint;
  read_count bigint;
  old_count bigint;
begin
  execute format(
    $query$
      select max(stretch.key), count(*), count(*) filter (where stretch.at < $1)
      from (
        select old.%3$I as key, old.%2$I as at from %1$s as old where old.%3$I > $2 order by old.%3$I limit $3
      ) as stretch
    $query$,
    table_name, at_column, key_column)
  into last_key, read_count, old_count
  using before, first_key, max_count;
  places := '{}';
  if old_count = 0 then
    return;
  end if;
  execute format(
    $query$
      with locked as materialized (
        select old.ctid as place
        from %1$s as old
        where old.%3$I > $2 and old.%3$I <= $3 and old.%2$I < $1 and %4$s
        for update of old skip locked
      )
      select coalesce(array_agg(locked.place), '{}') from locked
    $query$,
    table_name, at_column, key_column, condition)
  into places
  using before, first_key, last_key;
  if read_count = max_count then
    next := jsonb_build_object('key', last_key);
  end if;
end
$$;

comment on function bellwire.old_rows_by_key(regclass, text, text, text, timestamptz, integer, jsonb) is
  'Locks those of the next rows by key that are older than a time.';

revoke all on function bellwire.old_rows_by_key(regclass, text, text, text, timestamptz, integer, jsonb) from public;
