-- The inverse of encode_cursor(). No cursor is the place before the newest row.
-- Called by: api functions that page; as authenticated.
-- Errors: 22023 with detail invalid_cursor for anything encode_cursor() did not make.
create or replace function bellwire.decode_cursor(cursor text)
returns table (created_at timestamptz, id bigint)
language plpgsql
stable
set search_path = ''
as $$
declare
  plain text;
begin
  if cursor is null then
    return query select 'infinity'::timestamptz, 9223372036854775807::bigint;
    return;
  end if;
  if cursor !~ '^[A-Za-z0-9_-]{4,64}$' then
    raise exception using errcode = '22023';
  end if;
  plain := convert_from(decode(rpad(translate(cursor, '-_', '+/'), (length(cursor) + 3) / 4 * 4, '='), 'base64'), 'UTF8');
  if plain !~ '^[0-9]{1,17}:[0-9]{1,18}$' then
    raise exception using errcode = '22023';
  end if;
  return query
    select
      'epoch'::timestamptz + split_part(plain, ':', 1)::bigint * interval '1 microsecond',
      split_part(plain, ':', 2)::bigint;
exception when others then
  raise exception 'the cursor cannot be read'
    using errcode = '22023', detail = 'invalid_cursor',
      hint = 'Pass nextCursor of the previous page as it is, or nothing for the first page.';
end
$$;

comment on function bellwire.decode_cursor(text) is 'Reads a cursor; null gives the place before the newest row.';

revoke all on function bellwire.decode_cursor(text) from public;
grant execute on function bellwire.decode_cursor(text) to authenticated;
