-- What happened in the scopes the caller reads, newest first; of one workspace or one resource when given.
-- Called by: authenticated.
-- Errors: 22023 invalid_cursor.
create or replace function api.list_activity(
  in_workspace_id bigint default null,
  of_type text default null,
  of_ref text default null,
  after_cursor text default null,
  page_size integer default 30
)
returns table (
  id bigint,
  action text,
  actor_id bigint,
  actor_name text,
  actor_avatar_url text,
  workspace_id bigint,
  scope_id bigint,
  resource_type text,
  resource_id text,
  resource_title text,
  metadata jsonb,
  occurred_at timestamptz,
  created_at timestamptz,
  cursor text
)
language plpgsql
stable
set search_path = ''
as $$
#variable_conflict use_column
declare
  max_page_size constant integer := 101;
  row_limit constant integer := least(greatest(coalesce(page_size, 30), 1), max_page_size);
  place record;
  subject_id bigint;
begin
  select decoded.created_at, decoded.id into place from bellwire.decode_cursor(after_cursor) as decoded;
  if of_type is not null or of_ref is not null then
    select resource.id into subject_id
    from bellwire.resources as resource
    where resource.type = of_type and resource.ref = of_ref;
    if subject_id is null then
      return;
    end if;
  end if;
  return query
    -- Each scope gives its newest rows from the index; merging those is cheaper than sorting what all of them hold.
    with page as materialized (
      select activity.*
      from unnest(array(select distinct scope.id from bellwire.my_scopes() as scope(id))) as mine(scope_id)
      cross join lateral (
        select entry.*
        from bellwire.activity_log as entry
        where entry.scope_id = mine.scope_id
          and subject_id is null
          and (in_workspace_id is null or entry.workspace_id = in_workspace_id)
          and (entry.created_at, entry.id) < (place.created_at, place.id)
        order by entry.created_at desc, entry.id desc
        limit row_limit
      ) as activity
      union all
      (
        select entry.*
        from bellwire.activity_log as entry
        where entry.resource_id = subject_id
          and (in_workspace_id is null or entry.workspace_id = in_workspace_id)
          and (entry.created_at, entry.id) < (place.created_at, place.id)
        order by entry.created_at desc, entry.id desc
        limit row_limit
      )
      order by created_at desc, id desc
      limit row_limit
    )
    select
      page.id, page.action, page.actor_id, actor.name, actor.avatar_url, page.workspace_id, page.scope_id,
      resource.type, resource.ref, resource.title, page.metadata, page.occurred_at, page.created_at,
      bellwire.encode_cursor(page.created_at, page.id)
    from page
    left join bellwire.resources as resource on resource.id = page.resource_id
    left join bellwire.visible_people(array(select distinct named.actor_id from page as named)) as actor
      on actor.id = page.actor_id
    order by page.created_at desc, page.id desc;
end
$$;

comment on function api.list_activity(bigint, text, text, text, integer) is 'The activity feed, newest first.';

revoke all on function api.list_activity(bigint, text, text, text, integer) from public;
grant execute on function api.list_activity(bigint, text, text, text, integer) to authenticated;
