-- A place in a list ordered by (created_at, id), opaque to the client and exact to the microsecond.
-- Called by: api functions that page; as authenticated.
-- Errors: none.
create or replace function bellwire.encode_cursor(created_at timestamptz, id bigint)
returns text
language sql
stable
parallel safe
as $$
  select pg_catalog.translate(
    pg_catalog.encode(
      pg_catalog.convert_to(
        (extract(epoch from created_at) * 1000000)::pg_catalog.int8::text || ':' || id::text, 'UTF8'),
      'base64'),
    E'+/=\n', '-_')
$$;

comment on function bellwire.encode_cursor(timestamptz, bigint) is 'base64url of microseconds:id.';

revoke all on function bellwire.encode_cursor(timestamptz, bigint) from public;
grant execute on function bellwire.encode_cursor(timestamptz, bigint) to authenticated;
