-- What the rules hand to each other. Composite types, so that a whole statement's worth travels in one call.
set local role bellwire_owner;

create type bellwire.resource_entry as (
  ref text,
  parent_ref text,
  workspace_id bigint,
  title text,
  owner_id bigint
);
comment on type bellwire.resource_entry is 'What track() hands to register_resources(): one row of a tracked table.';

create type bellwire.member_entry as (
  scope_ref text,
  user_id bigint,
  role text
);
comment on type bellwire.member_entry is 'What track_members() hands to put_members() and drop_members().';

create type bellwire.activity_draft as (
  action text,
  actor_id bigint,
  workspace_id bigint,
  scope_id bigint,
  resource_id bigint,
  metadata jsonb,
  named_ids bigint[],
  is_recorded boolean
);
comment on type bellwire.activity_draft is
  'What track() hands to record_activity(). is_recorded false: only the people it names are told.';

create type bellwire.fan_out_event as (
  activity_id bigint,
  action text,
  actor_id bigint,
  workspace_id bigint,
  scope_id bigint,
  resource_id bigint,
  metadata jsonb,
  named_ids bigint[],
  names_only boolean
);
comment on type bellwire.fan_out_event is
  'An event whose people are to be told; queued as jsonb when the worker tells them.';

create type bellwire.notification_draft as (
  user_ids bigint[],
  kind text,
  actor_id bigint,
  workspace_id bigint,
  scope_id bigint,
  resource_id bigint,
  activity_id bigint,
  title text,
  body text,
  link_path text,
  metadata jsonb,
  source_key text
);
comment on type bellwire.notification_draft is 'One text for many people: what write_notifications() takes.';

grant usage on type
  bellwire.resource_entry, bellwire.member_entry, bellwire.activity_draft, bellwire.fan_out_event,
  bellwire.notification_draft
  to bellwire_definer;

reset role;
