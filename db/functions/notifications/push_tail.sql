-- What became visible since the reader's last look, exactly once, late commits included: rows whose transaction is at
-- or after the old snapshot's horizon and was not visible in it. Never "id > last": ids are given before the commit.
-- Called by: bellwire_server, with the snapshot of its previous call; null starts at now.
-- Errors: 22P02 for text that is no snapshot.
-- Source: DESIGN, "push tail".
create or replace function bellwire.push_tail(previous text)
returns table (snapshot text, events jsonb)
language sql
stable
security definer
set search_path = ''
as $$
  with given as materialized (
    select previous::pg_snapshot as snapshot
  ),
  fresh as materialized (
    select
      notification.id, notification.user_id, notification.read_at, notification.workspace_id, notification.scope_id
    from given
    join bellwire.notifications as notification on notification.xid >= pg_snapshot_xmin(given.snapshot)
    where not pg_visible_in_snapshot(notification.xid, given.snapshot)
      and notification.deleted_at is null
  ),
  unread as materialized (
    select owner.user_id, bellwire.unread_of(owner.user_id) as unread_count
    from (select distinct fresh.user_id from fresh) as owner
  )
  select
    pg_current_snapshot()::text,
    coalesce(
      (
        select jsonb_agg(
          case
            when fresh.read_at is null then jsonb_build_object(
              'userId', fresh.user_id, 'type', 'notification', 'id', fresh.id, 'unreadCount', unread.unread_count,
              'notification', bellwire.notification_json(notification))
            else jsonb_build_object(
              'userId', fresh.user_id, 'type', 'read', 'id', fresh.id, 'unreadCount', unread.unread_count)
          end
          order by fresh.id)
        from fresh
        join bellwire.notifications as notification on notification.id = fresh.id
        join unread on unread.user_id = fresh.user_id
        where bellwire.can_read(fresh.user_id, fresh.workspace_id, fresh.scope_id)
      ),
      '[]')
  from given
$$;

comment on function bellwire.push_tail(text) is
  'Notifications written or read since a snapshot, and the snapshot to pass next.';

revoke all on function bellwire.push_tail(text) from public;
grant execute on function bellwire.push_tail(text) to bellwire_server;
