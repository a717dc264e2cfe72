-- Finds everybody an event concerns and writes their notifications: one event, one notification per person, a mention
-- before the owner before a watcher. Watching a resource covers everything below it; of several words on the way down
-- the nearest counts, and "ignored" is a mute.
-- The window of the target is locked while it is written. The lock is one of 1024, so that a transaction that touches
-- ten thousand documents cannot fill the lock table; two resources that share one only take the queue.
-- max_people null: in the transaction of the change, all or nobody, as sync_fanout_limit says; else a chunk of so many.
-- Called by: fan_out() and drain_fan_out(), as bellwire_definer.
-- Errors: those of write_notifications().
-- Returns: null when everybody after the given person has been told; else the last of the chunk that was told, or 0 when
-- nobody was: too many for now, or the lock is held and may_wait is false.
-- Source: reference 000, sections 2 and 4.
create or replace function bellwire.tell_people(
  event bellwire.rule_event,
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
  people_limit bigint;
  named_ids bigint[];
  owner_ids bigint[];
  watcher_ids bigint[];
  told_ids bigint[];
  told_count bigint;
  last_user_id bigint;
  kind record;
  written record;
begin
  if event.target_id is null
    or event.watcher_kind is null and event.owner_kind is null and event.named_ids is null
  then
    return null;
  end if;

  if may_wait then
    perform pg_advisory_xact_lock(window_locks, (event.target_id % window_count)::integer);
  elsif not pg_try_advisory_xact_lock(window_locks, (event.target_id % window_count)::integer) then
    return 0;
  end if;

  -- One more than fits tells that there are more; a writer never reads a million watchers.
  people_limit := coalesce(
    max_people, (select setting.value + 1 from bellwire.settings as setting where setting.name = 'sync_fanout_limit'));
  if event.named_ids is null and event.owner_kind is null then
    -- Mostly there are only watchers. The general question below finds the same in three times the time (69 against
    -- 20 µs for one watcher).
    select array_agg(chosen.user_id), count(*), max(chosen.user_id)
    into watcher_ids, told_count, last_user_id
    from (
      select words.user_id
      from (
        select distinct on (watch.user_id) watch.user_id, watch.level
        from bellwire.watches as watch
        where watch.resource_id = any (event.audience) and watch.user_id > after_user_id
        order by watch.user_id, array_position(event.audience, watch.resource_id) desc
      ) as words
      where words.level = 'watching' and words.user_id is distinct from event.actor_id
      limit people_limit
    ) as chosen;
  else
    with words as (
      select distinct on (watch.user_id) watch.user_id, watch.level
      from bellwire.watches as watch
      where watch.resource_id = any (event.audience) and watch.user_id > after_user_id
      order by watch.user_id, array_position(event.audience, watch.resource_id) desc
    ),
    concerned as (
      select named.user_id, 1 as rank
      from unnest(event.named_ids) as named(user_id)
      union all
      select event.owner_id, 2
      where event.owner_kind is not null
      union all
      select words.user_id, 3
      from words
      where words.level = 'watching' and event.watcher_kind is not null
    ),
    chosen as (
      select distinct on (concerned.user_id) concerned.user_id, concerned.rank
      from concerned
      where concerned.user_id > after_user_id
        and concerned.user_id is distinct from event.actor_id
        and not exists (select from words where words.user_id = concerned.user_id and words.level = 'ignored')
      order by concerned.user_id, concerned.rank
      limit people_limit
    )
    select
      array_agg(chosen.user_id) filter (where chosen.rank = 1),
      array_agg(chosen.user_id) filter (where chosen.rank = 2),
      array_agg(chosen.user_id) filter (where chosen.rank = 3),
      count(*),
      max(chosen.user_id)
    into named_ids, owner_ids, watcher_ids, told_count, last_user_id
    from chosen;
  end if;
  if max_people is null and told_count = people_limit then
    return 0;
  end if;

  for rank in 1 .. 3 loop
    told_ids := case rank when 1 then named_ids when 2 then owner_ids else watcher_ids end;
    continue when told_ids is null;
    select known.*, actor.name as actor_name into kind
    from bellwire.notification_kinds as known
    left join bellwire.users as actor on actor.id = event.actor_id
    where known.kind = case rank when 1 then event.named_kind when 2 then event.owner_kind else event.watcher_kind end;
    -- Assigned, because PERFORM would plan and run a query to call it.
    written := bellwire.write_notifications(
      row(
        told_ids,
        kind.kind,
        event.actor_id,
        event.workspace_id,
        case when kind.is_scoped then event.scope_id end,
        event.target_id,
        event.activity_id,
        bellwire.fill_template(
          kind.title_template, coalesce(kind.actor_name, 'Somebody'), event.verb, coalesce(event.target_title, 'Untitled'), null),
        bellwire.fill_template(
          kind.body_template, coalesce(kind.actor_name, 'Somebody'), event.verb, coalesce(event.target_title, 'Untitled'),
          event.excerpt),
        event.link_path,
        jsonb_build_object('action', event.action),
        null,
        event.audience[1],
        kind.email_by_default
      )::bellwire.notification_draft
    );
  end loop;

  if told_count = max_people then
    return last_user_id;
  end if;
  return null;
end
$$;

comment on function bellwire.tell_people(bellwire.rule_event, bigint, bigint, boolean) is
  'Writes the notifications of an event for people after the given id, at most so many.';

revoke all on function bellwire.tell_people(bellwire.rule_event, bigint, bigint, boolean) from public;
