-- What became visible since the reader's last look, exactly once, late commits included: rows whose transaction is at
-- or after the old snapshot's horizon and was not visible in it. Never "id > last": ids are given before the commit.
-- listeners are the people the reader has sockets of, null for everybody: nothing is worked out for anybody else.
-- is_news says that there was something for anybody: its neighbours may be committing just now, so look again soon.
-- The upper bound keeps out rows of a restored dump, whose transactions are still to come in this cluster.
-- Called by: bellwire_server, with the snapshot of its previous call; null starts at now.
-- Errors: 22P02 for text that is no snapshot.
-- Source: DESIGN, "push tail".
create or replace function bellwire.push_tail(previous text, listeners bigint[] default null)
returns table (snapshot text, cursor text, is_news boolean, events jsonb)
language plpgsql
stable
security definer
set search_path = ''
set enable_seqscan = off -- a kept plan may date from when the table was nearly empty
as $$
#variable_conflict use_column
declare
  seen constant pg_snapshot := previous::pg_snapshot;
  visible constant pg_snapshot := pg_current_snapshot();
  fresh record;
begin
  select
    count(*) > 0 as is_news,
    array_agg(notification.id) filter (where listeners is null or notification.user_id = any(listeners)) as ids
  into fresh
  from bellwire.notifications as notification
  where notification.xid >= pg_snapshot_xmin(seen)
    and notification.xid < pg_snapshot_xmax(visible)
    and not pg_visible_in_snapshot(notification.xid, seen)
    and pg_visible_in_snapshot(notification.xid, visible)
    and notification.deleted_at is null;
  return query
    select visible::text, bellwire.encode_push_cursor(visible), fresh.is_news, '[]'::jsonb
    where fresh.ids is null;
  if fresh.ids is not null then
    return query
      select visible::text, bellwire.encode_push_cursor(visible), fresh.is_news, coalesce(jsonb_agg(
          jsonb_build_object(
            'userId', event.user_id, 'type', event.type, 'id', event.id, 'xids', event.xids,
            'unreadCount', event.unread_count, 'notification', event.notification)), '[]')
      from bellwire.push_events(fresh.ids, true) as event;
  end if;
end
$$;

comment on function bellwire.push_tail(text, bigint[]) is
  'Notifications written or read since a snapshot, and the snapshot to pass next.';

revoke all on function bellwire.push_tail(text, bigint[]) from public;
grant execute on function bellwire.push_tail(text, bigint[]) to bellwire_server;
