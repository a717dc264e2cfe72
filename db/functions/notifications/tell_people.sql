-- Finds everybody an event concerns and writes their notifications: one event, one notification per person, a mention
-- before the owner before a watcher. Watching a resource covers everything below it; of several words on the way down
-- the nearest counts, and "ignored" is a mute.
-- Called by: tell_or_queue() and drain_fan_out(), as bellwire_definer; they hold the lock of the event's window.
-- Errors: those of write_notifications().
-- max_people null: in the transaction of the change, all or nobody, as sync_fanout_limit says; else a chunk of so many.
-- Returns: null when everybody after the given person has been told. When there are more: the last of the chunk that was
-- told, or 0 when nobody was.
-- Source: reference 000, sections 2 and 4.
create or replace function bellwire.tell_people(
  event bellwire.fan_out_event,
  after_user_id bigint,
  max_people bigint
)
returns bigint
language plpgsql
set search_path = ''
as $$
declare
  what record;
  people record;
  people_limit bigint;
  person_ids bigint[];
  kinds text[];
begin
  select
    rule.verb,
    rule.watcher_kind,
    rule.owner_kind,
    rule.named_kind,
    target.owner_id,
    target.ancestors || target.id as audience,
    coalesce(target.title, 'Untitled') as title,
    coalesce(actor.name, 'Somebody') as actor_name,
    replace(replace(type.link_template, '{ref}', subject.ref), '{parent_ref}', coalesce(parent.ref, '')) as link_path,
    (select setting.value from bellwire.settings as setting where setting.name = 'sync_fanout_limit') as sync_limit
  into what
  from bellwire.action_rules as rule
  join bellwire.resources as subject on subject.id = event.resource_id
  join bellwire.resource_types as type on type.type = subject.type
  join bellwire.resources as target on target.id = event.target_id
  left join bellwire.resources as parent on parent.id = subject.parent_id
  left join bellwire.users as actor on actor.id = event.actor_id
  where rule.action = event.action;
  people_limit := coalesce(max_people, what.sync_limit);

  with words as (
    select distinct on (watch.user_id) watch.user_id, watch.level
    from bellwire.watches as watch
    where watch.resource_id = any (what.audience) and watch.user_id > after_user_id
    order by watch.user_id, array_position(what.audience, watch.resource_id) desc
  ),
  concerned as (
    select named.user_id, what.named_kind as kind, 1 as rank
    from unnest(event.named_ids) as named(user_id)
    union all
    select what.owner_id, what.owner_kind, 2
    where what.owner_kind is not null and not event.names_only
    union all
    select words.user_id, what.watcher_kind, 3
    from words
    where words.level = 'watching' and what.watcher_kind is not null and not event.names_only
  ),
  chosen as (
    select distinct on (concerned.user_id) concerned.user_id, concerned.kind
    from concerned
    where concerned.user_id > after_user_id
      and concerned.user_id is distinct from event.actor_id
      and not exists (select from words where words.user_id = concerned.user_id and words.level = 'ignored')
    order by concerned.user_id, concerned.rank
    limit people_limit + 1
  )
  select array_agg(chosen.user_id order by chosen.user_id), array_agg(chosen.kind order by chosen.user_id)
  into person_ids, kinds
  from chosen;

  if person_ids is null then
    return null;
  end if;
  if cardinality(person_ids) > people_limit and max_people is null then
    return 0;
  end if;

  for people in
    select
      kind.kind, kind.is_scoped, kind.title_template, kind.body_template,
      array_agg(chosen.user_id) as user_ids
    from unnest(person_ids[:people_limit], kinds[:people_limit]) as chosen(user_id, kind)
    join bellwire.notification_kinds as kind on kind.kind = chosen.kind
    group by kind.kind
  loop
    perform bellwire.write_notifications(
      row(
        people.user_ids,
        people.kind,
        event.actor_id,
        event.workspace_id,
        case when people.is_scoped then event.scope_id end,
        event.target_id,
        event.activity_id,
        bellwire.fill_template(people.title_template, what.actor_name, what.verb, what.title, null),
        bellwire.fill_template(people.body_template, what.actor_name, what.verb, what.title, event.metadata ->> 'excerpt'),
        what.link_path,
        jsonb_build_object('action', event.action),
        null
      )::bellwire.notification_draft
    );
  end loop;

  if cardinality(person_ids) > people_limit then
    return person_ids[people_limit];
  end if;
  return null;
end
$$;

comment on function bellwire.tell_people(bellwire.fan_out_event, bigint, bigint) is
  'Writes the notifications of an event for people after the given id, at most so many.';

revoke all on function bellwire.tell_people(bellwire.fan_out_event, bigint, bigint) from public;
