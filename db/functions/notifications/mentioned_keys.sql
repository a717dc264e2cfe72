-- The keys of the people a text mentions who were not mentioned by the text before it, each once: what stands in
-- <span data-type="mention" data-id="…">. What counts as a mention is said at mentions_in().
-- Called by: mentioned_ids() and mentioned_users(), as bellwire_definer.
-- Errors: none.
-- Source: reference 000, section 5.
create or replace function bellwire.mentioned_keys(new_html text, old_html text)
returns text[]
language plpgsql
immutable
set search_path = ''
parallel safe
as $$
declare
  keys text[];
begin
  -- Most saves mention nobody, and all of them come through here: the look for the word is cheap, cutting up is not.
  if new_html is null or strpos(lower(new_html collate "C"), 'mention') = 0 then
    return null;
  end if;
  keys := array(select distinct mentioned.key from bellwire.mentions_in(new_html) as mentioned(key) order by 1);
  if keys <> '{}' and old_html ~* 'mention' then
    keys := array(
      select mentioned.key from unnest(keys) as mentioned(key)
      except
      select earlier.key from bellwire.mentions_in(old_html) as earlier(key)
      order by 1);
  end if;
  return nullif(keys, '{}');
end
$$;

comment on function bellwire.mentioned_keys(text, text) is
  'Keys of the people newly mentioned in a text, null when there are none.';

revoke all on function bellwire.mentioned_keys(text, text) from public;
