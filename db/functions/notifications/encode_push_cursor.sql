-- What a client has seen, opaque to it: a snapshot. Everything visible in it was sent, whatever commits later was not.
-- The list of what was running is cut, so that no client has to carry a long one: what began after the cut counts as not
-- sent and may come once more, which a client tells by id and coalescedCount.
-- Called by: push_tail() and missed_notifications(), as bellwire_definer.
-- Errors: none.
create or replace function bellwire.encode_push_cursor(seen pg_snapshot)
returns text
language plpgsql
stable
set search_path = ''
parallel safe
as $$
declare
  max_running constant integer := 32;
  running constant text[] := array(select xip::text from pg_snapshot_xip(seen) as xip order by xip);
  kept text := seen::text;
begin
  if cardinality(running) > max_running then
    kept := format(
      '%s:%s:%s', pg_snapshot_xmin(seen), running[max_running + 1], array_to_string(running[:max_running], ','));
  end if;
  return translate(encode(convert_to(kept, 'UTF8'), 'base64'), E'+/=\n', '-_');
end
$$;

comment on function bellwire.encode_push_cursor(pg_snapshot) is 'base64url of a snapshot with at most 32 running transactions.';

revoke all on function bellwire.encode_push_cursor(pg_snapshot) from public;
