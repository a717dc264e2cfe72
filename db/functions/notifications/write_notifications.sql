-- The single writer of the inbox. Whoever calls it has said who is concerned; here it is decided who is told: not the
-- actor, only active members of the workspace who can read the scope, only as their preferences allow, once per source
-- key, and within 60 seconds for the same person, kind and resource only by counting up the row that is there.
-- One text, any number of people. Callers that may race for a window hold its lock (tell_people(), notify()); a row that its
-- reader is marking at this moment is not waited for.
-- Looked up by index only. The people are keys of the membership index: joined from an unnest() they cost a sixth more
-- for ten thousand (195 against 167 ms), and a plan kept from a small workspace reads all its members for each. What
-- hangs on a person is a LATERAL with OFFSET 0: a hash join would read all members of the scope to tell one of them.
-- Called by: tell_people() and notify(), as bellwire_definer.
-- Errors: 23514 for a link or metadata out of bounds.
-- Returns: the first of the rows that tell it, and whether it was written now; null and false when nobody is told. For
-- one person that is their row; nobody needs ten thousand.
-- Source: reference 000, section 4; reference 003, "notification_insert".
create or replace function bellwire.write_notifications(
  draft bellwire.notification_draft,
  out notification_id bigint,
  out created boolean
)
language plpgsql
set search_path = ''
as $$
declare
  plain_title constant text := coalesce(bellwire.plain_text(draft.title, 255), 'Untitled');
  plain_body constant text := bellwire.plain_text(draft.body, 2000);
  -- In UTC, as the window's index has it: no other index can be taken for it.
  window_start constant timestamp := (now() - make_interval(
    secs => (select setting.value from bellwire.settings as setting where setting.name = 'notification_window_seconds'))
    ) at time zone 'utc';
  present_ids bigint[]; -- rows that already tell it
  present_user_ids bigint[];
  mailed_ids bigint[];
  inserted_count bigint;
  done_count bigint;
  is_woken boolean;
begin
  if draft.source_key is not null then
    select array_agg(earlier.id), array_agg(earlier.user_id)
    into present_ids, present_user_ids
    from (
      select written.id, written.user_id
      from bellwire.notifications as written
      where written.workspace_id = draft.workspace_id
        and written.user_id = any (draft.user_ids)
        and written.source_key = draft.source_key
      union all
      select counted.notification_id, counted.user_id
      from bellwire.counted_keys as counted
      where counted.workspace_id = draft.workspace_id
        and counted.user_id = any (draft.user_ids)
        and counted.source_key = draft.source_key
    ) as earlier;
  end if;

  with inserted as (
    insert into bellwire.notifications (
      workspace_id, scope_id, user_id, kind, actor_id, resource_id, activity_id,
      title, body, link_path, metadata, source_key, is_mailed, deleted_at)
    select
      draft.workspace_id, draft.scope_id, membership.user_id, draft.kind, draft.actor_id, draft.resource_id, draft.activity_id,
      plain_title, plain_body, draft.link_path, coalesce(draft.metadata, '{}'), draft.source_key,
      coalesce(preference.email, draft.email_by_default), case when preference.in_app is false then now() end
    from bellwire.memberships as membership
    left join lateral (
      select inner_membership.user_id
      from bellwire.memberships as inner_membership
      where inner_membership.scope_id = draft.scope_id and inner_membership.user_id = membership.user_id
      offset 0
    ) as own on true
    left join lateral (
      select wish.in_app, wish.email
      from bellwire.notification_preferences as wish
      where wish.user_id = membership.user_id and wish.kind = draft.kind
      offset 0
    ) as preference on true
    where membership.scope_id = draft.root_id
      and membership.user_id = any (draft.user_ids)
      and membership.user_id is distinct from draft.actor_id
      and (present_user_ids is null or membership.user_id <> all (present_user_ids))
      and membership.user_id <> all (array(
        select gone.id from bellwire.users as gone where gone.id = any (draft.user_ids) and gone.deactivated_at is not null))
      and (preference.in_app is not false or coalesce(preference.email, draft.email_by_default))
      and (
        draft.scope_id is null
        or draft.scope_id = draft.root_id
        or membership.role in ('owner', 'admin')
        or own.user_id is not null
      )
      and not exists (
        select
        from bellwire.notifications as earlier
        where hashint8extended(earlier.user_id, earlier.resource_id) = hashint8extended(membership.user_id, draft.resource_id)
          and earlier.created_at at time zone 'utc' > window_start
          and earlier.user_id is not distinct from membership.user_id -- "=" would offer the inbox's index
          and earlier.resource_id = draft.resource_id
          and earlier.kind = draft.kind
        offset 0
      )
    returning notifications.id, notifications.is_mailed
  )
  select min(inserted.id), count(*), array_agg(inserted.id) filter (where inserted.is_mailed)
  into notification_id, inserted_count, mailed_ids
  from inserted;
  created := inserted_count > 0;

  if inserted_count < cardinality(draft.user_ids) and present_ids is null and draft.resource_id is not null then
    -- Somebody was not written to; perhaps a row of the window tells them.
    select array_agg(earlier.id)
    into present_ids
    from bellwire.notifications as earlier
    where hashint8extended(earlier.user_id, earlier.resource_id)
        = any (array(select hashint8extended(named.user_id, draft.resource_id) from unnest(draft.user_ids) as named(user_id)))
      and earlier.created_at at time zone 'utc' > window_start
      and earlier.resource_id = draft.resource_id
      and earlier.kind = draft.kind
      and earlier.user_id is distinct from draft.actor_id
      and (notification_id is null or earlier.id < notification_id);
    if present_ids is not null then
      update bellwire.notifications as notification
      set coalesced_count = notification.coalesced_count + 1,
          xid = pg_current_xact_id()
      where notification.id in (
        select free.id from bellwire.notifications as free where free.id = any (present_ids) for update skip locked
      );
      insert into bellwire.counted_keys (workspace_id, user_id, source_key, notification_id)
      select notification.workspace_id, notification.user_id, draft.source_key, notification.id
      from bellwire.notifications as notification
      where notification.id = any (present_ids) and draft.source_key is not null
      on conflict (workspace_id, user_id, source_key) do nothing;
    end if;
  end if;

  if created then
    is_woken := bellwire.wake('bellwire_push');
  end if;
  if mailed_ids is not null then
    done_count := bellwire.queue_email(mailed_ids);
  end if;
  notification_id := coalesce(notification_id, present_ids[1]);
end
$$;

comment on function bellwire.write_notifications(bellwire.notification_draft) is
  'Writes notifications for those of the named people who are to be told; returns the first row and whether it is new.';

revoke all on function bellwire.write_notifications(bellwire.notification_draft) from public;
