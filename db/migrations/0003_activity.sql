-- The activity log and the rules that say what an action sets off.
set local role bellwire_owner;

create table bellwire.notification_kinds (
  kind text not null,
  description text not null,
  email_by_default boolean not null,
  title_template text not null,
  body_template text not null default '{excerpt}',
  is_scoped boolean not null default true,
  constraint notification_kinds_pkey primary key (kind),
  constraint notification_kinds_description_length check (char_length(description) <= 255),
  constraint notification_kinds_kind_form check (kind ~ '^[a-z][a-z0-9_]{0,62}$'),
  constraint notification_kinds_title_length check (char_length(title_template) between 1 and 255),
  constraint notification_kinds_body_length check (char_length(body_template) <= 2000)
);
comment on table bellwire.notification_kinds is 'The kinds a person can be told of and can turn off, one by one.';
comment on column bellwire.notification_kinds.title_template is
  'Plain text; {actor}, {verb}, {title} and {excerpt} are filled in when the notification is written.';
comment on column bellwire.notification_kinds.is_scoped is
  'When true the row shows only while the person can read the scope; an invitation is not, its reader is outside yet.';

create table bellwire.action_rules (
  action text not null,
  verb text not null,
  emits boolean not null default false,
  event_data jsonb,
  auto_watch text,
  target text not null default 'self',
  watcher_kind text,
  owner_kind text,
  named_kind text not null default 'mention',
  coalesce_seconds integer,
  constraint action_rules_pkey primary key (action),
  constraint action_rules_action_form check (action ~ '^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$' and char_length(action) <= 63),
  constraint action_rules_verb_length check (char_length(verb) between 1 and 63),
  constraint action_rules_target_known check (target in ('self', 'parent')),
  constraint action_rules_auto_watch_form check (auto_watch ~ '^auto_[a-z_]{1,58}$'),
  constraint action_rules_coalesce_positive check (coalesce_seconds > 0),
  constraint action_rules_event_data_object check (jsonb_typeof(event_data) = 'object'),
  constraint action_rules_watcher_kind_fkey foreign key (watcher_kind) references bellwire.notification_kinds (kind),
  constraint action_rules_owner_kind_fkey foreign key (owner_kind) references bellwire.notification_kinds (kind),
  constraint action_rules_named_kind_fkey foreign key (named_kind) references bellwire.notification_kinds (kind)
);
comment on table bellwire.action_rules is 'The taxonomy as data: one row per action, saying what it sets off.';
comment on column bellwire.action_rules.emits is 'Written to the webhook outbox.';
comment on column bellwire.action_rules.event_data is
  'Key of the event data -> where it comes from: ref, parent_ref, title, or metadata.<key>. Null: the metadata as it is.';
comment on column bellwire.action_rules.auto_watch is
  'When set, the actor starts watching the target with this source.';
comment on column bellwire.action_rules.target is
  'Whose watchers and owner are meant: the resource itself or its parent.';
comment on column bellwire.action_rules.watcher_kind is 'What watchers of the target and of its ancestors are told.';
comment on column bellwire.action_rules.owner_kind is 'What the owner of the target is told.';
comment on column bellwire.action_rules.named_kind is 'What people named by the event (mentioned, invited) are told.';
comment on column bellwire.action_rules.coalesce_seconds is
  'The same action by one user on one resource within this time is dropped. Unit: seconds.';

create table bellwire.activity_log (
  id bigint generated always as identity,
  workspace_id bigint not null,
  scope_id bigint not null,
  actor_id bigint,
  action text not null,
  resource_id bigint not null,
  metadata jsonb not null default '{}',
  named_ids bigint[],
  ingest_event_id text,
  occurred_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  constraint activity_log_pkey primary key (id),
  constraint activity_log_resource_fkey foreign key (resource_id) references bellwire.resources (id) on delete cascade,
  constraint activity_log_metadata_size check (octet_length(metadata::text) <= 8192),
  constraint activity_log_ingest_event_id_length check (char_length(ingest_event_id) <= 64)
);
comment on table bellwire.activity_log is
  'What happened, by whom, to what. Append-only for everyone, its owner included.';
-- No foreign key from here, notifications or webhook_events to a row that many writers share (a workspace, a rule, a
-- popular person): its check locks that row FOR KEY SHARE, inside a rule's subtransaction, and at 8 clients the
-- multixacts this makes cost five sixths of the throughput (102 against 611 writes/s on two cores). What a workspace or
-- a person leaves behind is deleted by triggers (sweep_workspaces(), sweep_users()).
comment on column bellwire.activity_log.actor_id is 'Null: the system. No foreign key: history outlives an account.';
comment on column bellwire.activity_log.named_ids is 'People the event itself names: newly mentioned, or invited.';
comment on column bellwire.activity_log.metadata is 'At most 8 KiB.';

create index activity_log_feed on bellwire.activity_log (scope_id, created_at desc, id desc);
comment on index bellwire.activity_log_feed is 'Serves the feed of the scopes a person reads, newest first.';
create index activity_log_resource on bellwire.activity_log (resource_id, created_at desc, id desc);
comment on index bellwire.activity_log_resource is
  'Serves the feed of one resource and the coalescing look-up of record_activity().';
create unique index activity_log_ingest_event on bellwire.activity_log (resource_id, ingest_event_id)
  where ingest_event_id is not null;
comment on index bellwire.activity_log_ingest_event is 'Makes a retried ingest a no-op.';
create index activity_log_age on bellwire.activity_log using brin (created_at);
comment on index bellwire.activity_log_age is 'Serves prune().';

reset role;
