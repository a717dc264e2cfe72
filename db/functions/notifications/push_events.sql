-- What a socket is told of these notifications: one event each, by person and id. Access is looked at now, once per scope.
-- With may_merge somebody who read everything at once gets one read-all, which is right because nothing is unread; and
-- whom there is more for than anybody would want as frames is told to read the inbox again.
-- Called by: push_tail() and missed_notifications(), as bellwire_definer.
-- Errors: none.
create or replace function bellwire.push_events(ids bigint[], may_merge boolean)
returns table (user_id bigint, id bigint, xids xid8[], type text, unread_count bigint, notification jsonb)
language plpgsql
stable
set search_path = ''
as $$
#variable_conflict use_column
declare
  max_frames constant integer := 500; -- per person and look
begin
  return query
    with changed as materialized (
      select
        notification.user_id, notification.id, notification.workspace_id, notification.scope_id, notification.xid,
        notification.read_at, notification as item
      from bellwire.notifications as notification
      where notification.id = any(ids)
    ),
    readable as materialized (
      select place.user_id, place.workspace_id, place.scope_id
      from (select distinct changed.user_id, changed.workspace_id, changed.scope_id from changed offset 0) as place
      where bellwire.can_read(place.user_id, place.workspace_id, place.scope_id)
    ),
    shown as materialized (
      select changed.*
      from changed
      join readable on readable.user_id = changed.user_id and readable.workspace_id = changed.workspace_id
        and readable.scope_id is not distinct from changed.scope_id
    ),
    owners as materialized (
      select owner.*, case
          when may_merge and owner.event_count > 1 and owner.unread_count = 0 then 'read-all'
          when may_merge and owner.event_count > max_frames then 'resync'
        end as merged
      from (
        select shown.user_id, count(*) as event_count, max(shown.id) as last_id, array_agg(distinct shown.xid) as xids,
          bellwire.unread_of(shown.user_id) as unread_count
        from shown
        group by shown.user_id
      ) as owner
    )
    select event.*
    from (
      select owners.user_id, owners.last_id as id, owners.xids, owners.merged as type, owners.unread_count, null::jsonb
      from owners
      where owners.merged is not null
      union all
      select
        shown.user_id, shown.id, array[shown.xid],
        case when shown.read_at is null then 'notification' else 'read' end,
        owners.unread_count, bellwire.notification_json(shown.item)
      from owners
      join shown on shown.user_id = owners.user_id
      where owners.merged is null
    ) as event
    order by event.user_id, event.id;
end
$$;

comment on function bellwire.push_events(bigint[], boolean) is 'The events a socket sends for these notifications.';

revoke all on function bellwire.push_events(bigint[], boolean) from public;
