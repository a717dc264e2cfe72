-- The regular expression, to be matched in any case, that cuts HTML into tags and comments the way a browser's tokenizer does, so that a >
-- or a whole node inside an attribute's value is no tag. Everything between the tokens is text.
--
-- It reads a text once, whatever is in it, and says where each tag ends without looking at anything twice. Whoever
-- changes it has to keep what that rests on:
-- * It is the tokenizer's state machine written out: at each character there is one way to go on. Where there were two,
--   the longest match would win, which need not be the right one.
-- * No look-ahead and no capturing groups. Postgres prepares each of them anew at each match: with them the same tokens
--   took 30 microseconds each, without them 2.
-- * Every token that was begun ends, as the caller puts something behind the text that closes whatever is open. A token
--   without an end would have its end looked for anew at each <.
-- Called by: mentions_in(), as bellwire_definer. raw_names are elements whose content is text, each
-- taken together with its content. Eight of them make the expression slower by ten times, so pass those that occur.
-- Errors: none.
-- Source: the HTML standard, "Tokenization"; the escapes inside a script are left out.
create or replace function bellwire.html_token(raw_names text[])
returns text
language sql
immutable
set search_path = ''
parallel safe
as $$
  with attributes as (
    -- _ stands for white space. Names without a value; one with a value or before a /; the rest of the tag up to its >.
    select
      '(?:[_/](?:[_/]|names[_]*(?:/|=[_]*(?:"[^"]*"|''[^'']*''|[^_"''>][^_>]*[_])))*'
      '(?:names[_]*(?:=[_]*(?:[^_"''>][^_>]*)?)?)?)?>' as pattern
  ),
  raw_elements as (
    -- Text without </name: after each beginning of it comes something that does not go on with it, or another <.
    select string_agg(
      '|<' || name || attributes.pattern || '(?:[^<]|(?:<(?:/' || beginnings.nested || ')?)*(?:' || beginnings.broken || '))*',
      '') as pattern
    from attributes
    cross join unnest(raw_names) as name
    cross join lateral (
      select
        string_agg('(?:' || letter, '' order by place) || repeat(')?', length(name)) as nested,
        '<[^</]|' || string_agg('</' || left(name, place - 1) || '[^<' || letter || ']', '|' order by place)
          || '|</' || name || '[^<_/>]' as broken
      from (select place, substr(name, place, 1) as letter from generate_series(1, length(name)) as place) as letters
    ) as beginnings
  )
  select replace(replace(
    '</?[a-z][^_/>]*' || attributes.pattern
      || '|<!--(?:-?>|(?:(?:[^->]|-(?:[^->]|(?:-+!-)+[^-]|(?:-+!-)*-+(?:[^->!]|![^->])))'
      || '(?:[^-]|-(?:-+!-)*(?:[^-]|-+(?:[^->!]|![^->])))*)?-(?:-+!-)*-+!?>)'
      || '|<!-?(?:>|[^->][^>]*>)|<[?][^>]*>|</(?:>|[^a-z>][^>]*>)'
      || coalesce(raw_elements.pattern, '')
      || '|<plaintext' || attributes.pattern || '.*',
    'names', '[^_/>][^_/>=]*(?:[_]+[^_/>=]+)*'),
    '_', ' \t\n\f\r')
  from attributes cross join raw_elements
$$;

comment on function bellwire.html_token(text[]) is 'A regular expression for one tag or comment of HTML.';

revoke all on function bellwire.html_token(text[]) from public;
