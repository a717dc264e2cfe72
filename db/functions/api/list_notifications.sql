-- A page of the inbox, newest first, after the place the cursor names.
-- Called by: authenticated.
-- Errors: 22023 invalid_cursor.
-- Source: reference 003, "User routes"; keyset at microsecond precision
create or replace function api.list_notifications(
  after_cursor text default null,
  page_size integer default 30,
  unread_only boolean default false
)
returns table (
  id bigint,
  kind text,
  title text,
  body text,
  link_path text,
  workspace_id bigint,
  scope_id bigint,
  resource_type text,
  resource_id text,
  activity_id bigint,
  metadata jsonb,
  coalesced_count integer,
  actor_id bigint,
  actor_name text,
  actor_avatar_url text,
  created_at timestamptz,
  read_at timestamptz,
  cursor text
)
language plpgsql
stable
set search_path = ''
as $$
#variable_conflict use_column
declare
  max_page_size constant integer := 101;
  place record;
begin
  select decoded.created_at, decoded.id into place from bellwire.decode_cursor(after_cursor) as decoded;
  return query
    with page as materialized (
      select notification.*
      from bellwire.notifications as notification
      where notification.user_id = bellwire.current_user_id()
        and (notification.created_at, notification.id) < (place.created_at, place.id)
        and (notification.read_at is null or not coalesce(unread_only, false))
      order by notification.created_at desc, notification.id desc
      limit least(greatest(coalesce(page_size, 30), 1), max_page_size)
    )
    select
      page.id, page.kind, page.title, page.body, page.link_path, page.workspace_id, page.scope_id,
      resource.type, resource.ref, page.activity_id, page.metadata, page.coalesced_count,
      page.actor_id, actor.name, actor.avatar_url, page.created_at, page.read_at,
      bellwire.encode_cursor(page.created_at, page.id)
    from page
    left join bellwire.resources as resource on resource.id = page.resource_id
    left join bellwire.visible_people(array(select distinct named.actor_id from page as named)) as actor
      on actor.id = page.actor_id
    order by page.created_at desc, page.id desc;
end
$$;

comment on function api.list_notifications(text, integer, boolean) is 'The inbox, newest first.';

revoke all on function api.list_notifications(text, integer, boolean) from public;
grant execute on function api.list_notifications(text, integer, boolean) to authenticated;
