-- Does the caller watch this, how did that come about, and is it muted?
-- Called by: authenticated.
-- Errors: none; what is not watched, or not there, is not watched.
create or replace function api.watch_state(resource_type text, resource_id text)
returns table (watching boolean, source text, level text)
language plpgsql
stable
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
    select coalesce(watch.level = 'watching', false), watch.source, watch.level
    from (select) as one
    left join bellwire.resources as resource
      on resource.type = watch_state.resource_type and resource.ref = watch_state.resource_id
    left join bellwire.watches as watch
      on watch.resource_id = resource.id and watch.user_id = bellwire.current_user_id();
end
$$;

comment on function api.watch_state(text, text) is 'Whether the caller watches a resource.';

revoke all on function api.watch_state(text, text) from public;
grant execute on function api.watch_state(text, text) to authenticated;
