-- Whom one tag mentions: its data-id, if it is <span data-type="mention" …>. What counts is said at mentions_in().
-- Called by: mentions_in(), as bellwire_definer, with a whole start tag in lower case.
-- Errors: none; null for any other tag.
create or replace function bellwire.mention_id(tag text)
returns bigint
language plpgsql
immutable
set search_path = ''
parallel safe
as $$
declare
  -- Longer than any id, written with references or without.
  max_value_length constant integer := 200;
  largest_id constant numeric := 9223372036854775807;
  attribute constant text :=
    '([^ \t\n\f\r/>][^ \t\n\f\r/>=]*)(?:[ \t\n\f\r]*=[ \t\n\f\r]*("[^"]*"|''[^'']*''|[^ \t\n\f\r"''>][^ \t\n\f\r>]*)?)?';
  kind text;
  id text;
begin
  -- Most spans are something else.
  if tag not like '%mention%' or tag not like '%data-id%' then
    return null;
  end if;
  select
    (array_agg(given.value order by given.place) filter (where given.name = 'data-type'))[1],
    (array_agg(given.value order by given.place) filter (where given.name = 'data-id'))[1]
  into kind, id
  from (
    select part[1] as name, regexp_replace(part[2], '^(["''])(.*)\1$', '\2') as value, place
    from regexp_matches(substring(tag from '^<span(.*)>$'), attribute, 'g') with ordinality as parts(part, place)
    where part[1] in ('data-type', 'data-id')
  ) as given;
  if kind is distinct from 'mention' or length(id) > max_value_length then
    return null;
  end if;
  if id like '%&%' and id ~ '^(?:[0-9]|&#(?:0*(?:4[89]|5[0-7])(?![0-9])|x0*3[0-9](?![0-9a-f]));?)*$' then
    select string_agg(coalesce(part[1], part[2], (part[3]::integer - ascii('0'))::text), '' order by place)
    into id
    from regexp_matches(id, '([0-9])|&#(?:x0*3([0-9])|0*([45][0-9]));?', 'g') with ordinality as parts(part, place);
  end if;
  if id ~ '^[0-9]{1,19}$' and id::numeric <= largest_id then
    return id::bigint;
  end if;
  return null;
end
$$;

comment on function bellwire.mention_id(text) is 'The id of the person a tag mentions, null when it mentions nobody.';

revoke all on function bellwire.mention_id(text) from public;
