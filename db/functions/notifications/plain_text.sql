-- Plain text for a title or body: tags gone, control characters and runs of white space made one space, bounded.
-- Called by: write_notifications() and the suite's track() calls, as bellwire_definer.
-- Errors: none; null for what is empty.
-- Source: reference 000, section 4, step 4.
create or replace function bellwire.plain_text(value text, max_length integer)
returns text
language sql
immutable
parallel safe
as $$
  select nullif(
    left(
      btrim(regexp_replace(regexp_replace(value, '</?[a-zA-Z!][^>]*>', ' ', 'g'), '[[:cntrl:][:space:]]+', ' ', 'g')),
      max_length),
    '')
$$;

comment on function bellwire.plain_text(text, integer) is
  'Strips tags and control characters and cuts at so many code points.';

revoke all on function bellwire.plain_text(text, integer) from public;
