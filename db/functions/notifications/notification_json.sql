-- A notification as the wire shows it, for the socket.
-- Called by: push_events(), as bellwire_definer.
-- Errors: none.
create or replace function bellwire.notification_json(notification bellwire.notifications)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  return (
    select jsonb_build_object(
      'id', notification.id,
      'kind', notification.kind,
      'title', notification.title,
      'body', notification.body,
      'linkPath', notification.link_path,
      'workspaceId', notification.workspace_id,
      'scopeId', notification.scope_id,
      'resourceType', resource.type,
      'resourceId', resource.ref,
      'activityId', notification.activity_id,
      'metadata', notification.metadata,
      'coalescedCount', notification.coalesced_count,
      'actor', case when actor.id is not null then
        jsonb_build_object('id', actor.id, 'name', actor.name, 'avatarUrl', actor.avatar_url) end,
      'createdAt', to_char(notification.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'readAt', to_char(notification.read_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'cursor', bellwire.encode_cursor(notification.created_at, notification.id)
    )
    from (select) as one
    left join bellwire.resources as resource on resource.id = notification.resource_id
    left join bellwire.users as actor on actor.id = notification.actor_id
  );
end
$$;

comment on function bellwire.notification_json(bellwire.notifications) is 'A notification in the form of the API.';

revoke all on function bellwire.notification_json(bellwire.notifications) from public;
