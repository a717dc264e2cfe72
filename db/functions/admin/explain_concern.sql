-- Second part of explain_delivery(): the person's nearest word on the way up from the target, which may be a mute, and
-- what makes them concerned: named before owner before watcher.
-- Called by: explain_delivery(), as bellwire_definer.
-- Errors: none.
-- Source: reference 000, sections 2 and 3; DESIGN, "Watches" and "Fan-out".
create or replace function bellwire.explain_concern(about bellwire.delivery_case)
returns table (step text, passed boolean, explanation text)
language sql
stable
set search_path = ''
as $$
  with word as (
    select
      coalesce((about.word).level, 'none') as level,
      format('%s, since %s, source %s',
        bellwire.name_resource(place.type, place.ref, place.title),
        date_trunc('second', (about.word).created_at),
        (about.word).source) as place,
      (about.notification).id is null and (about.word).created_at > (about.activity).created_at as is_later
    from (select) as one
    left join bellwire.resources as place on place.id = (about.word).resource_id
  )
  select
    'watch',
    case word.level when 'ignored' then false when 'watching' then true end,
    case word.level
      when 'ignored' then format('%s has muted %s. A mute is above everything, a mention too.', (about.person).name, word.place)
      when 'watching' then format('%s watches %s.', (about.person).name, word.place)
      else format('%s watches neither it nor anything above it.', (about.person).name)
    end
  from word
  union all
  select
    'reason',
    about.reason is not null and not (about.reason = 'watcher' and word.is_later),
    case
      when about.reason = 'named' then format('The entry names %s: %s.', (about.person).name, about.kind)
      when about.reason = 'owner' then format('%s is the owner: %s.', (about.person).name, about.kind)
      when about.reason = 'watcher' and word.is_later
        then format('%s began to watch after it had happened: %s.', (about.person).name, word.place)
      when about.reason = 'watcher' then format('%s is told as a watcher: %s.', (about.person).name, about.kind)
      when word.level = 'watching' then
        format('%s watches it, but the action %s tells no watchers.', (about.person).name, (about.activity).action)
      else format('Nothing makes it %s''s concern: not named, not the owner that is told, not watching.', (about.person).name)
    end
  from word
$$;

comment on function bellwire.explain_concern(bellwire.delivery_case) is
  'What the person watches or mutes, and why it concerns them, in sentences.';

revoke all on function bellwire.explain_concern(bellwire.delivery_case) from public;
