-- Watches, the inbox, preferences and the e-mail outbox.
set local role bellwire_owner;

create table bellwire.watches (
  resource_id bigint not null,
  user_id bigint not null,
  source text not null,
  level text not null default 'watching',
  created_at timestamptz not null default now(),
  constraint watches_pkey primary key (resource_id, user_id),
  constraint watches_resource_fkey foreign key (resource_id) references bellwire.resources (id) on delete cascade,
  constraint watches_user_fkey foreign key (user_id) references bellwire.users (id) on delete cascade,
  constraint watches_source_form check (source ~ '^(manual|auto_[a-z_]{1,58})$'),
  constraint watches_level_known check (level in ('watching', 'ignored'))
);
comment on table bellwire.watches is
  'Who follows what. Manual beats auto; ignored is a mute that nothing automatic undoes.';

create index watches_user on bellwire.watches using hash (user_id);
comment on index bellwire.watches_user is
  'Serves the list of a person''s watches. Hash, so that it cannot be taken for "user_id > x" in tell_people(), where a '
  'plan kept from the time the table was small read all watches of everybody.';

create table bellwire.notification_preferences (
  user_id bigint not null,
  kind text not null,
  in_app boolean,
  email boolean,
  constraint notification_preferences_pkey primary key (user_id, kind),
  constraint notification_preferences_user_fkey foreign key (user_id)
    references bellwire.users (id) on delete cascade,
  constraint notification_preferences_kind_fkey foreign key (kind)
    references bellwire.notification_kinds (kind) on delete cascade
);
comment on table bellwire.notification_preferences is
  'Only what differs from the default of the kind; null means the default.';

create table bellwire.notifications (
  id bigint generated always as identity,
  workspace_id bigint not null,
  scope_id bigint,
  user_id bigint not null,
  kind text not null,
  actor_id bigint,
  resource_id bigint,
  activity_id bigint,
  title text not null,
  body text,
  link_path text,
  metadata jsonb not null default '{}',
  source_key text,
  coalesced_count integer not null default 0,
  is_mailed boolean not null default false,
  xid xid8 not null default pg_current_xact_id(),
  created_at timestamptz not null default now(),
  read_at timestamptz,
  deleted_at timestamptz,
  constraint notifications_pkey primary key (id),
  constraint notifications_title_length check (char_length(title) between 1 and 255),
  constraint notifications_body_length check (char_length(body) <= 2000),
  constraint notifications_link_path_form
    check (link_path ~ '^/' and link_path !~ '^//' and link_path !~ '[\s\\]' and char_length(link_path) <= 500),
  constraint notifications_source_key_length check (char_length(source_key) between 1 and 200),
  constraint notifications_metadata_size check (octet_length(metadata::text) <= 8192)
);
comment on table bellwire.notifications is 'The inbox. A row is written once; its text is never rewritten.';
comment on column bellwire.notifications.scope_id is
  'When set, the row shows only while the person can read that scope.';
comment on column bellwire.notifications.coalesced_count is 'How many more times it happened within the window.';
comment on column bellwire.notifications.is_mailed is 'The person wanted this kind by e-mail when it was written.';
comment on column bellwire.notifications.xid is
  'The transaction that last made this row news: written, counted or read. The push tail reads by it.';
comment on column bellwire.notifications.deleted_at is
  'Set from the start when the person wants this kind by e-mail only: never in the bell.';

create index notifications_inbox on bellwire.notifications (user_id, created_at desc, id desc);
comment on index bellwire.notifications_inbox is 'Serves the inbox page and its keyset.';
create index notifications_window
  on bellwire.notifications (hashint8extended(user_id, resource_id), created_at desc) where resource_id is not null;
comment on index bellwire.notifications_window is
  'Serves the 60-second window of write_notifications(). One hashed key, so that no plan can take the inbox index for '
  'it: a busy watcher has thousands of rows of the last minute in there (8 ms instead of 0.1 per write).';
create unique index notifications_source_key on bellwire.notifications (workspace_id, user_id, source_key)
  where source_key is not null;
comment on index bellwire.notifications_source_key is 'Makes a retried event a no-op.';
create index notifications_xid on bellwire.notifications (xid);
comment on index bellwire.notifications_xid is 'Serves push_tail().';

create table bellwire.email_outbox (
  id bigint generated always as identity,
  notification_id bigint not null,
  state text not null default 'pending',
  attempts integer not null default 0,
  unsubscribe_token uuid not null default gen_random_uuid(),
  created_at timestamptz not null default now(),
  claimed_at timestamptz,
  retry_at timestamptz,
  sent_at timestamptz,
  error text,
  constraint email_outbox_pkey primary key (id),
  constraint email_outbox_notification_key unique (notification_id),
  constraint email_outbox_unsubscribe_token_key unique (unsubscribe_token),
  constraint email_outbox_notification_fkey foreign key (notification_id)
    references bellwire.notifications (id) on delete cascade,
  constraint email_outbox_state_known check (state in ('pending', 'sending', 'sent', 'skipped', 'failed')),
  constraint email_outbox_error_length check (char_length(error) <= 255)
);
comment on table bellwire.email_outbox is 'One row per notification that is to be mailed.';

create index email_outbox_due on bellwire.email_outbox (id) where state in ('pending', 'sending');
comment on index bellwire.email_outbox_due is 'Serves claim_emails().';

create table bellwire.fan_out_queue (
  id bigint generated always as identity,
  event jsonb not null,
  after_user_id bigint not null default 0,
  created_at timestamptz not null default now(),
  constraint fan_out_queue_pkey primary key (id)
);
comment on table bellwire.fan_out_queue is
  'Events whose people are told by the worker: a large audience, a bulk change, or a window somebody else is writing.';
comment on column bellwire.fan_out_queue.event is 'A bellwire.fan_out_event.';
comment on column bellwire.fan_out_queue.after_user_id is 'Everybody up to this id has been told.';

reset role;
