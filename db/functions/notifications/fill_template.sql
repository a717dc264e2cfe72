-- Fills a notification's template. A title that contains "{actor}" stays a title.
-- Called by: tell_people(), as bellwire_definer.
-- Errors: none.
create or replace function bellwire.fill_template(template text, actor text, verb text, title text, excerpt text)
returns text
language sql
immutable
parallel safe
as $$
  -- Each value is put where its mark stands; a "{" of a value is hidden until all are in.
  select translate(
    replace(replace(replace(replace(
      template,
      '{excerpt}', translate(coalesce(excerpt, ''), '{', E'\x01')),
      '{title}', translate(coalesce(title, ''), '{', E'\x01')),
      '{verb}', translate(coalesce(verb, ''), '{', E'\x01')),
      '{actor}', translate(coalesce(actor, ''), '{', E'\x01')),
    E'\x01', '{')
$$;

comment on function bellwire.fill_template(text, text, text, text, text) is
  'Replaces {actor}, {verb}, {title} and {excerpt}; what is filled in is never read as a template.';

revoke all on function bellwire.fill_template(text, text, text, text, text) from public;
