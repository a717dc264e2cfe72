-- Plain text for a title or body: tags gone (those that begin a line leave a space), the entities of ordinary text read,
-- control characters and runs of white space made one space, bounded. &lt; and &gt; stay as they are, so that what comes
-- out never holds a tag that was not one.
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
      btrim(regexp_replace(
        case when strpos(value, '<') > 0 or strpos(value, '&') > 0 then
          replace(replace(replace(replace(
            regexp_replace(regexp_replace(
              regexp_replace(
                value,
                '</?(?:p|div|br|hr|li|ul|ol|h[1-6]|tr|td|th|table|blockquote|pre|section|article)(?:\s[^>]*|/)?>', ' ', 'gi'),
              '</?[a-zA-Z!][^>]*>', '', 'g'),
              -- What is left open, or came together only now, is no tag either.
              '<(?=[/a-zA-Z!])', '', 'g'),
            '&nbsp;', ' '), '&quot;', '"'), '&#39;', ''''), '&amp;', '&')
        else value end,
        '[[:cntrl:][:space:]]+', ' ', 'g')),
      max_length),
    '')
$$;

comment on function bellwire.plain_text(text, integer) is
  'Strips tags and control characters and cuts at so many code points.';

revoke all on function bellwire.plain_text(text, integer) from public;
