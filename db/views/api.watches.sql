-- What the caller watches or mutes, as far as they can still read it.
create or replace view api.watches with (security_invoker = true) as
select
  resource.type as resource_type, resource.ref as resource_id, resource.title as resource_name,
  watch.source, watch.level, watch.created_at
from bellwire.watches as watch
join bellwire.resources as resource on resource.id = watch.resource_id and resource.deleted_at is null;
comment on view api.watches is 'The caller''s watches on what they can read.';
comment on column api.watches.resource_type is 'What kind of thing is watched or muted.';
comment on column api.watches.resource_id is 'Its key in its own table.';
comment on column api.watches.resource_name is 'What it is called now. Null: nothing.';
comment on column api.watches.source is 'manual, or the action rule that began it: auto_…';
comment on column api.watches.level is 'watching; ignored is a mute.';
comment on column api.watches.created_at is 'Since when; a change of level keeps it.';
grant select on api.watches to authenticated;
