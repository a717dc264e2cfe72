-- Finds everybody an event concerns and writes their notifications: one event, one notification per person, a mention
-- before the owner before a watcher. Watching a resource covers everything below it; of several words on the way down
-- the nearest counts, and "ignored" is a mute.
-- The window of the target is locked while it is written. The lock is one of 1024, so that a transaction that touches
-- ten thousand documents cannot fill the lock table; two resources that share one only take the queue.
-- max_people null: in the transaction of the change, all or nobody, as sync_fanout_limit says; else a chunk of so many.
-- Called by: tell_or_queue() and drain_fan_out(), as bellwire_definer.
-- Errors: those of write_notifications().
-- Returns: null when everybody after the given person has been told; else the last of the chunk that was told, or 0 when
-- nobody was: too many for now, or the lock is held and may_wait is false.
-- Source: reference 000, sections 2 and 4.
create or replace function bellwire.tell_people(
  event bellwire.fan_out_event,
  after_user_id bigint,
  max_people bigint,
  may_wait boolean
)
returns bigint
language plpgsql
set search_path = ''
as $$
declare
  window_locks constant integer := 7301; -- first half of the advisory key
  window_count constant integer := 1024;
  what record;
  people record;
  people_limit bigint;
begin
  select
    rule.verb,
    rule.watcher_kind,
    rule.owner_kind,
    rule.named_kind,
    target.id as target_id,
    target.owner_id,
    target.ancestors || target.id as audience,
    coalesce(target.title, 'Untitled') as title,
    coalesce(actor.name, 'Somebody') as actor_name,
    subject.link_path,
    (select setting.value from bellwire.settings as setting where setting.name = 'sync_fanout_limit') as sync_limit
  into what
  from bellwire.action_rules as rule
  join bellwire.resources as subject on subject.id = event.resource_id
  join bellwire.resources as target
    on target.id = case rule.target when 'parent' then subject.parent_id else subject.id end
  left join bellwire.users as actor on actor.id = event.actor_id
  where rule.action = event.action;
  if not found then
    return null;
  end if;

  if may_wait then
    perform pg_advisory_xact_lock(window_locks, (what.target_id % window_count)::integer);
  elsif not pg_try_advisory_xact_lock(window_locks, (what.target_id % window_count)::integer) then
    return 0;
  end if;
  -- One more than fits tells that there are more.
  people_limit := coalesce(max_people, what.sync_limit + 1);

  for people in
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
      limit people_limit
    )
    select
      kind.*,
      array_agg(chosen.user_id order by chosen.user_id) as user_ids,
      sum(count(*)) over () as total_count,
      max(max(chosen.user_id)) over () as last_user_id
    from chosen
    join bellwire.notification_kinds as kind on kind.kind = chosen.kind
    group by kind.kind
  loop
    if max_people is null and people.total_count = people_limit then
      return 0;
    end if;
    perform bellwire.write_notifications(
      row(
        people.user_ids,
        people.kind,
        event.actor_id,
        event.workspace_id,
        case when people.is_scoped then event.scope_id end,
        what.target_id,
        event.activity_id,
        bellwire.fill_template(people.title_template, what.actor_name, what.verb, what.title, null),
        bellwire.fill_template(people.body_template, what.actor_name, what.verb, what.title, event.metadata ->> 'excerpt'),
        what.link_path,
        jsonb_build_object('action', event.action),
        null
      )::bellwire.notification_draft
    );
  end loop;

  if found and people.total_count = people_limit then
    return people.last_user_id;
  end if;
  return null;
end
$$;

comment on function bellwire.tell_people(bellwire.fan_out_event, bigint, bigint, boolean) is
  'Writes the notifications of an event for people after the given id, at most so many.';

revoke all on function bellwire.tell_people(bellwire.fan_out_event, bigint, bigint, boolean) from public;
