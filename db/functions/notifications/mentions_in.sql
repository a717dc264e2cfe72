-- The people an HTML text mentions: the nodes <span data-type="mention" data-id="42"> that a browser would show.
-- * Not those inside pre, code, template and noscript, nor inside elements whose content is text: script, style, textarea,
--   title, xmp, iframe, noembed, noframes, plaintext. One that is never closed reaches to the end of the text.
-- * Names of elements and attributes, and the word mention, in any case; of an attribute given twice the first.
-- * Numeric references in data-id are read, as a browser reads them: &#52;2 is 42. The word mention has to stand there
--   as it is. What a key is, is for mentioned_ids() and mentioned_users() to say; here it is whatever stands there.
-- It builds no tree: of broken nesting it knows the depth of each of the four elements and no more.
-- The time is linear in the length of the text, see html_token().
-- Called by: mentioned_ids() and mentioned_keys(), as bellwire_definer.
-- Errors: none.
-- Source: reference 000, section 5.
create or replace function bellwire.mentions_in(html text)
returns setof text
language plpgsql
immutable
set search_path = ''
parallel safe
as $$
declare
  -- Ends any tag, comment or attribute value. A token with the mark in it was not closed in the text: a browser drops it.
  mark constant text := E'\x01';
  ending constant text := mark || '-->''">''>';
  hiding constant text[] := '{pre,code,noscript,template}';
  template constant integer := 4;
  depths integer[] := '{0,0,0,0}';
  plain constant text := translate(html, mark, E'\x02') collate "C";
  raw constant text := '<(script|style|textarea|title|xmp|iframe|noembed|noframes)';
  token text := bellwire.html_token('{}');
  tag text;
  element integer;
  key text;
begin
  if plain ~* raw then
    token := bellwire.html_token(array(
      select distinct lower(names.name[1]) from regexp_matches(plain, raw, 'gi') as names(name)));
  end if;
  for tag in
    select piece[1]
    from regexp_matches(plain || ending, token, 'gi') as piece
    where piece[1] ~* '^</?(?:span|pre|code|noscript|template)[ \t\n\f\r/>]' and strpos(piece[1], mark) = 0
  loop
    element := array_position(hiding, lower(substring(tag from '[a-zA-Z]+')));
    if element is not null and (depths[template] = 0 or element = template) then
      depths[element] := greatest(depths[element] + case when tag like '</%' then -1 else 1 end, 0);
    elsif element is null and depths = '{0,0,0,0}' then
      key := bellwire.mention_key(tag);
      if key is not null then
        return next key;
      end if;
    end if;
  end loop;
end
$$;

comment on function bellwire.mentions_in(text) is 'Keys of the people a text mentions, in its order; one may come twice.';

revoke all on function bellwire.mentions_in(text) from public;
