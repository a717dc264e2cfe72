-- Metadata that is over 8 KiB with its long values cut, and the word that they were: a column of a tracked table may hold
-- any text, and its length must not cost the entry.
-- Called by: record_activity(), as bellwire_definer.
-- Errors: none.
create or replace function bellwire.shorten_metadata(metadata jsonb)
returns jsonb
language sql
immutable
set search_path = ''
as $$
  select coalesce(jsonb_object_agg(pair.key, case
      when octet_length(pair.value::text) > 200 then to_jsonb(left(pair.value #>> '{}', 40))
      else pair.value
    end) filter (where pair.number <= 30), '{}') || '{"truncated": true}'
  from jsonb_each(metadata) with ordinality as pair(key, value, number)
$$;

comment on function bellwire.shorten_metadata(jsonb) is 'Cuts long values of metadata and adds truncated: true.';

revoke all on function bellwire.shorten_metadata(jsonb) from public;
