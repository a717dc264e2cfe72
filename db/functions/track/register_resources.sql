-- Puts rows of a tracked table into the registry or brings them up to date: title, owner, place in the tree. Where the
-- parent is not there, the workspace is the parent. A row without a key the registry can hold is passed over, and a
-- workspace nobody made is none.
-- Called by: the functions track() generates, for the changed rows of a statement; register_rows(), for the rows that
-- are there when tracking begins.
-- Errors: those of the insert.
create or replace function bellwire.register_resources(
  of_type text,
  parent_type text,
  entries bellwire.resource_entry[],
  is_insert boolean default false
)
returns void
language plpgsql
security definer
set search_path = ''
as $$
declare
  known_type bellwire.resource_types;
  moved_ids bigint[];
begin
  select known.* into known_type from bellwire.resource_types as known where known.type = of_type;
  with placed as materialized (
    select
      entry.ref,
      left(entry.title, 255) as title,
      entry.owner_id,
      replace(replace(known_type.link_template, '{ref}', entry.ref), '{parent_ref}', coalesce(entry.parent_ref, '')) as link_path,
      coalesce(parent.id, root.id) as parent_id,
      case
        when parent.id is not null then parent.workspace_id
        when root.id is not null then root.workspace_id
        else (select workspace.id from bellwire.workspaces as workspace where workspace.id = entry.workspace_id)
      end as workspace_id,
      coalesce(parent.scope_id, root.id) as scope_id,
      case
        when parent.id is not null then parent.ancestors || parent.id
        when root.id is not null then array[root.id]
        else '{}'
      end as ancestors
    from unnest(entries) as entry
    left join bellwire.resources as parent on parent.type = parent_type and parent.ref = entry.parent_ref
    left join bellwire.resources as root
      on parent.id is null
      and root.workspace_id = entry.workspace_id
      and root.parent_id is null
      and (root.type, root.ref) <> (of_type, entry.ref)
    where char_length(entry.ref) between 1 and 255
  ),
  written as (
    insert into bellwire.resources as known (
      type, ref, parent_id, workspace_id, scope_id, ancestors, title, owner_id, link_path)
    select
      of_type, placed.ref, placed.parent_id, placed.workspace_id, placed.scope_id, placed.ancestors,
      placed.title, placed.owner_id,
      -- A key that no link can hold has none.
      case when placed.link_path !~ '[\s\\]' and placed.link_path !~ '^//' then left(placed.link_path, 500) end
    from placed
    on conflict (type, ref) do update
    set parent_id = excluded.parent_id,
        workspace_id = excluded.workspace_id,
        title = excluded.title,
        owner_id = excluded.owner_id,
        link_path = excluded.link_path,
        deleted_at = null
    -- What a trigger of the application's own has changed in a row that was just inserted was registered before it.
    where not is_insert
      or known.deleted_at is not null
      or age(known.xmin) > age(pg_current_xact_id()::xid)
  )
  -- Read before the statement's own writes: which of them hang somewhere else now.
  select array_agg(resource.id)
  into moved_ids
  from placed
  join bellwire.resources as resource on resource.type = of_type and resource.ref = placed.ref
  where resource.parent_id is distinct from placed.parent_id;

  if known_type.is_scope then
    update bellwire.resources as resource
    set scope_id = resource.id
    from unnest(entries) as entry
    where resource.type = of_type and resource.ref = entry.ref and resource.scope_id is distinct from resource.id;
    perform bellwire.admit_members(of_type, array(select entry.ref from unnest(entries) as entry));
  end if;
  if moved_ids is not null then
    perform bellwire.rehang(moved_ids);
  end if;
end
$$;

comment on function bellwire.register_resources(text, text, bellwire.resource_entry[], boolean) is
  'Inserts or updates registry rows of one type.';

revoke all on function bellwire.register_resources(text, text, bellwire.resource_entry[], boolean) from public;
grant execute on function bellwire.register_resources(text, text, bellwire.resource_entry[], boolean) to bellwire_admin;
