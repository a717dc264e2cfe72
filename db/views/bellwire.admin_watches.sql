-- Who watches or mutes what, with names. A watch outlives the access to what it is on, and the thing itself: then it tells
-- nobody.
create or replace view bellwire.admin_watches with (security_invoker = true) as
select
  workspace.name as workspace,
  resource.type,
  resource.ref,
  resource.title,
  watch.user_id,
  person.name as user_name,
  person.email,
  watch.level,
  watch.source,
  watch.created_at,
  resource.deleted_at is null and person.deactivated_at is null as is_live
from bellwire.watches as watch
join bellwire.users as person on person.id = watch.user_id
join bellwire.resources as resource on resource.id = watch.resource_id
left join bellwire.workspaces as workspace on workspace.id = resource.workspace_id;

comment on view bellwire.admin_watches is 'Who watches or mutes what, by name.';
comment on column bellwire.admin_watches.workspace is 'The tenant.';
comment on column bellwire.admin_watches.type is 'What kind of thing it is.';
comment on column bellwire.admin_watches.ref is 'Its key in its own table.';
comment on column bellwire.admin_watches.title is 'What it is called now.';
comment on column bellwire.admin_watches.user_id is 'The person.';
comment on column bellwire.admin_watches.user_name is 'Their name.';
comment on column bellwire.admin_watches.email is 'Their address.';
comment on column bellwire.admin_watches.level is 'watching; ignored is a mute.';
comment on column bellwire.admin_watches.source is 'manual, or the action rule that began it.';
comment on column bellwire.admin_watches.created_at is 'Since when.';
comment on column bellwire.admin_watches.is_live is
  'The thing is there and the person active. Access is not looked at: see explain_delivery().';

revoke all on bellwire.admin_watches from public;
grant select on bellwire.admin_watches to bellwire_admin;
