-- Whom one tag mentions: its data-id, if it is <span data-type="mention" …>. What counts is said at mentions_in().
-- Called by: mentions_in(), as bellwire_definer, with a whole start tag.
-- Errors: none; null for any other tag.
create or replace function bellwire.mention_key(tag text)
returns text
language plpgsql
immutable
set search_path = ''
parallel safe
as $$
declare
  max_key_length constant integer := 255; -- that of users.external_id, which is also enough for an id in references
  attribute constant text :=
    '([^ \t\n\f\r/>][^ \t\n\f\r/>=]*)(?:[ \t\n\f\r]*=[ \t\n\f\r]*("[^"]*"|''[^'']*''|[^ \t\n\f\r"''>][^ \t\n\f\r>]*)?)?';
  kind text;
  key text;
begin
  -- Most spans are something else.
  if tag not ilike '%mention%' or tag not ilike '%data-id%' then
    return null;
  end if;
  select
    (array_agg(given.value order by given.place) filter (where given.name = 'data-type'))[1],
    (array_agg(given.value order by given.place) filter (where given.name = 'data-id'))[1]
  into kind, key
  from (
    select lower(part[1]) as name, regexp_replace(part[2], '^(["''])(.*)\1$', '\2') as value, place
    from regexp_matches(substring(tag from '(?i)^<span(.*)>$'), attribute, 'g') with ordinality as parts(part, place)
    where lower(part[1]) in ('data-type', 'data-id')
  ) as given;
  if lower(kind) is distinct from 'mention' or key = '' or length(key) > max_key_length then
    return null;
  end if;
  if key like '%&%' and key ~* '^(?:[0-9]|&#(?:0*(?:4[89]|5[0-7])(?![0-9])|x0*3[0-9](?![0-9a-f]));?)*$' then
    select string_agg(coalesce(part[1], part[2], (part[3]::integer - ascii('0'))::text), '' order by place)
    into key
    from regexp_matches(key, '([0-9])|&#(?:x0*3([0-9])|0*([45][0-9]));?', 'gi') with ordinality as parts(part, place);
  end if;
  return key;
end
$$;

comment on function bellwire.mention_key(text) is 'The key of the person a tag mentions, null when it mentions nobody.';

revoke all on function bellwire.mention_key(text) from public;
