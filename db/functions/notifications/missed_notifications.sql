-- What a client that was away has missed: everything of its person that became visible since its cursor, however late it
-- was committed, by id. All of it, snapshot and unread count included, is of one moment; what follows in the push tail
-- and is visible in this snapshot was in here. Without a cursor nothing was missed.
-- needs_resync: more was missed than max_count, or the cursor is none of ours. Then there are no events, and the client
-- reads the inbox.
-- Called by: bellwire_server, when a socket has authenticated.
-- Errors: none.
create or replace function bellwire.missed_notifications(user_id bigint, after_cursor text, max_count integer)
returns table (snapshot text, cursor text, unread_count bigint, needs_resync boolean, events jsonb)
language plpgsql
stable
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  visible constant pg_snapshot := pg_current_snapshot();
  here constant text := bellwire.encode_push_cursor(visible);
  place record;
  ids bigint[];
begin
  select decoded.base, decoded.reached, decoded.after_id into place from bellwire.decode_push_cursor(after_cursor) as decoded;
  ids := array(
    select missed.id
    from bellwire.notifications as missed
    where missed.user_id = missed_notifications.user_id
      and missed.xid >= pg_snapshot_xmin(place.base)
      and missed.xid < pg_snapshot_xmax(visible)
      and not pg_visible_in_snapshot(missed.xid, place.base)
      and pg_visible_in_snapshot(missed.xid, visible)
      and (missed.id > place.after_id or not pg_visible_in_snapshot(missed.xid, place.reached))
      and missed.deleted_at is null
    order by missed.xid
    limit max_count + 1);
  needs_resync := after_cursor is not null and place.base is null or cardinality(ids) > max_count;
  return query
    select visible::text, here, bellwire.unread_of(missed_notifications.user_id), needs_resync, coalesce(jsonb_agg(
        jsonb_build_object(
          'userId', event.user_id, 'type', event.type, 'id', event.id, 'xids', event.xids,
          'unreadCount', event.unread_count, 'notification', event.notification,
          'cursor', case
            when event.is_last then here
            when event.is_late then format('%s.%s.%s', bellwire.encode_push_cursor(place.reached), here, event.id)
            else format('%s.%s.%s', bellwire.encode_push_cursor(place.base), bellwire.encode_push_cursor(place.reached), event.id)
          end)
        order by event.is_late, event.id), '[]')
    from (
      select told.*, row_number() over (order by told.is_late desc, told.id desc) = 1 as is_last
      from (
        select pushed.*, not pg_visible_in_snapshot(pushed.xids[1], place.reached) as is_late
        from bellwire.push_events(case when needs_resync then '{}' else ids end, false) as pushed
      ) as told
    ) as event;
end
$$;

comment on function bellwire.missed_notifications(bigint, text, integer) is
  'What a person was not pushed since a cursor, with the unread count and the cursor of this moment.';

revoke all on function bellwire.missed_notifications(bigint, text, integer) from public;
grant execute on function bellwire.missed_notifications(bigint, text, integer) to bellwire_server;
