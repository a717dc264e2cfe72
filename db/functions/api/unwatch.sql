-- Stops watching or ends a mute. Needs no access: it is one's own.
-- Called by: authenticated.
-- Errors: none; stopping twice is fine.
-- Source: reference 000, section 3
create or replace function api.unwatch(resource_type text, resource_id text)
returns void
language sql
security definer
set search_path = ''
as $$
  delete from bellwire.watches as watch
  using bellwire.resources as resource
  where resource.type = unwatch.resource_type
    and resource.ref = unwatch.resource_id
    and watch.resource_id = resource.id
    and watch.user_id = bellwire.current_user_id()
$$;

comment on function api.unwatch(text, text) is 'Stops watching a resource.';

revoke all on function api.unwatch(text, text) from public;
grant execute on function api.unwatch(text, text) to authenticated;
