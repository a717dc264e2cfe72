-- Source keys that were counted into a notification that was there already, so that their retry is a no-op as well.
set local role bellwire_owner;

create table bellwire.counted_keys (
  workspace_id bigint not null,
  user_id bigint not null,
  source_key text not null,
  notification_id bigint not null,
  constraint counted_keys_pkey primary key (workspace_id, user_id, source_key),
  constraint counted_keys_notification_fkey foreign key (notification_id)
    references bellwire.notifications (id) on delete cascade,
  constraint counted_keys_source_key_length check (char_length(source_key) between 1 and 200)
);
comment on table bellwire.counted_keys is
  'Source keys whose notification is another one: it was there already, and was counted up. Gone with it.';
comment on column bellwire.counted_keys.workspace_id is 'Tenant.';
comment on column bellwire.counted_keys.user_id is 'Who was told.';
comment on column bellwire.counted_keys.source_key is 'The key that was given; its retry returns the notification.';
comment on column bellwire.counted_keys.notification_id is 'The notification that was counted up.';

create index counted_keys_notification on bellwire.counted_keys (notification_id);
comment on index bellwire.counted_keys_notification is 'Serves the cascade when a notification is deleted.';

comment on index bellwire.resources_root is
  'Serves can_read(), notify() and the registration of what has no parent: the scope of a workspace; one per workspace.';
comment on index bellwire.memberships_user is 'Serves my_scopes(), suite.my_squads() and write_notifications().';
comment on table bellwire.fan_out_queue is
  'Events whose people are told by the worker: a large audience, a bulk change, a window somebody else is writing, or a '
  'transaction that keeps its snapshot.';

comment on column bellwire.users.deactivated_at is
  'When set: reads nothing of any workspace, is told nothing, cannot sign in.';

reset role;
