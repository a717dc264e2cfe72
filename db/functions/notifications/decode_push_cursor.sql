-- Reads a push cursor. Between two frames of one look it has three parts, base.reached.id: what was visible in base was
-- sent, and of what had become visible in reached the notifications up to that id.
-- Called by: missed_notifications(), as bellwire_definer.
-- Errors: none; no row for what is no cursor, or one from another cluster, whose transactions are still to come here.
create or replace function bellwire.decode_push_cursor(cursor text)
returns table (base pg_snapshot, reached pg_snapshot, after_id bigint)
language plpgsql
stable
set search_path = ''
as $$
declare
  max_length constant integer := 3000; -- more than any cursor has
  form constant text := '^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+\.[0-9]{1,18})?$';
  parts constant text[] := string_to_array(cursor, '.');
  snapshots pg_snapshot[];
begin
  if length(cursor) > max_length or cursor !~ form then
    return;
  end if;
  select array_agg(
    convert_from(
      decode(rpad(translate(encoded, '-_', '+/'), (length(encoded) + 3) / 4 * 4, '='), 'base64'), 'UTF8')::pg_snapshot
    order by place)
  into snapshots
  from unnest(parts[:2]) with ordinality as given(encoded, place);
  if pg_snapshot_xmax(snapshots[cardinality(snapshots)]) <= pg_snapshot_xmax(pg_current_snapshot()) then
    return query select snapshots[1], snapshots[cardinality(snapshots)], parts[3]::bigint;
  end if;
-- Text that is no base64, no UTF-8, no snapshot or out of range.
exception when data_exception then
  return;
end
$$;

comment on function bellwire.decode_push_cursor(text) is 'Reads a cursor of encode_push_cursor(), alone or as base.reached.id.';

revoke all on function bellwire.decode_push_cursor(text) from public;
