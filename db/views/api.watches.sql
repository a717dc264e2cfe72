-- What the caller watches or mutes, as far as they can still read it.
create or replace view api.watches with (security_invoker = true) as
select
  resource.type as resource_type, resource.ref as resource_id, resource.title as resource_name,
  watch.source, watch.level, watch.created_at
from bellwire.watches as watch
join bellwire.resources as resource on resource.id = watch.resource_id and resource.deleted_at is null;
comment on view api.watches is 'The caller''s watches on what they can read.';
grant select on api.watches to authenticated;
