-- Starts watching, or mutes with level ignored. By hand, so it overwrites an automatic watch. Needs read access.
-- Called by: authenticated.
-- Errors: 22023 for a type that cannot be watched or an unknown level; P0002 for what is not there or not readable.
-- Source: reference 000, section 3
create or replace function api.watch(resource_type text, resource_id text, at_level text default 'watching')
returns table (watching boolean, source text, level text)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  found_id bigint;
begin
  if at_level is null or at_level not in ('watching', 'ignored') then
    raise exception 'a level is watching or ignored'
      using errcode = '22023', hint = 'To stop, delete the watch.';
  end if;
  if not exists (
    select from bellwire.resource_types as type where type.type = watch.resource_type and type.is_watchable)
  then
    raise exception 'a % cannot be watched', coalesce(resource_type, 'nothing')
      using errcode = '22023', hint = 'select type from bellwire.resource_types where is_watchable';
  end if;
  select resource.id into found_id
  from bellwire.resources as resource
  where resource.type = watch.resource_type
    and resource.ref = watch.resource_id
    and resource.deleted_at is null
    and resource.scope_id in (select bellwire.my_scopes());
  if found_id is null then
    raise exception 'there is no such %', resource_type
      using errcode = 'P0002', hint = 'It was deleted, or you cannot read it.';
  end if;
  insert into bellwire.watches as mine (resource_id, user_id, source, level)
  values (found_id, bellwire.current_user_id(), 'manual', at_level)
  on conflict on constraint watches_pkey do update set source = 'manual', level = excluded.level;
  return query select at_level = 'watching', 'manual'::text, at_level;
end
$$;

comment on function api.watch(text, text, text) is 'Starts watching a resource, or mutes it.';

revoke all on function api.watch(text, text, text) from public;
grant execute on function api.watch(text, text, text) to authenticated;
