-- The webhook outbox.
set local role bellwire_owner;

create table bellwire.webhook_subscriptions (
  id bigint generated always as identity,
  workspace_id bigint,
  url text not null,
  event_types text[],
  is_enabled boolean not null default true,
  disabled_reason text,
  paused_until timestamptz,
  consecutive_failures integer not null default 0,
  last_position bigint not null default 0,
  created_by bigint,
  created_at timestamptz not null default now(),
  constraint webhook_subscriptions_pkey primary key (id),
  constraint webhook_subscriptions_workspace_fkey foreign key (workspace_id)
    references bellwire.workspaces (id) on delete cascade,
  constraint webhook_subscriptions_url_form check (url ~* '^https?://[^\s\\]+$' and char_length(url) <= 2000),
  constraint webhook_subscriptions_reason_length check (char_length(disabled_reason) <= 500)
);
comment on table bellwire.webhook_subscriptions is 'Receivers. No secret here: see webhook_secrets.';
comment on column bellwire.webhook_subscriptions.workspace_id is 'Null: events of every workspace.';
comment on column bellwire.webhook_subscriptions.event_types is 'Null: every type.';
comment on column bellwire.webhook_subscriptions.last_position is
  'The position given to the newest delivery that was claimed.';

create index webhook_subscriptions_workspace on bellwire.webhook_subscriptions (workspace_id) where is_enabled;
comment on index bellwire.webhook_subscriptions_workspace is 'Serves emit_webhooks().';

create table bellwire.webhook_secrets (
  id bigint generated always as identity,
  subscription_id bigint not null,
  secret text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  constraint webhook_secrets_pkey primary key (id),
  constraint webhook_secrets_subscription_fkey foreign key (subscription_id)
    references bellwire.webhook_subscriptions (id) on delete cascade,
  constraint webhook_secrets_secret_form check (secret ~ '^whsec_[A-Za-z0-9+/]{32,88}={0,2}$')
);
comment on table bellwire.webhook_secrets is 'Signing secrets; read by claim_webhooks() and by nothing else.';
comment on column bellwire.webhook_secrets.expires_at is 'Set by a rotation: the old secret still signs until then.';

create index webhook_secrets_subscription on bellwire.webhook_secrets (subscription_id);
comment on index bellwire.webhook_secrets_subscription is 'Serves claim_webhooks().';

create table bellwire.webhook_events (
  id bigint generated always as identity,
  event_id uuid not null default gen_random_uuid(),
  activity_id bigint not null,
  type text not null,
  workspace_id bigint not null,
  title text,
  sequence bigint,
  body bytea,
  occurred_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  constraint webhook_events_pkey primary key (id),
  constraint webhook_events_event_id_key unique (event_id),
  constraint webhook_events_sequence_key unique (sequence),
  constraint webhook_events_body_size check (octet_length(body) <= 4096),
  constraint webhook_events_body_with_sequence check ((body is null) = (sequence is null))
);
comment on table bellwire.webhook_events is
  'One row per event that somebody subscribes to. The writer stores what may change; the sequencer builds the body.';
comment on column bellwire.webhook_events.title is 'The title of the resource at the time of the event.';
comment on column bellwire.webhook_events.sequence is
  'Order of commit as the sequencer saw it; no gaps. Null: not yet seen.';
comment on column bellwire.webhook_events.body is
  'The bytes that are sent and signed, stored once and never rebuilt.';

create index webhook_events_unsequenced on bellwire.webhook_events (id) where sequence is null;
comment on index bellwire.webhook_events_unsequenced is 'Serves sequence_webhooks().';

create table bellwire.webhook_sequence (
  is_only boolean not null default true,
  last_sequence bigint not null default 0,
  constraint webhook_sequence_pkey primary key (is_only),
  constraint webhook_sequence_one_row check (is_only)
);
comment on table bellwire.webhook_sequence is 'One row: the newest number given. Touched by the sequencer alone.';
insert into bellwire.webhook_sequence default values;

create table bellwire.webhook_deliveries (
  id bigint generated always as identity,
  subscription_id bigint not null,
  event_id bigint not null,
  sequence bigint,
  position bigint,
  state text not null default 'pending',
  attempts integer not null default 0,
  leased_by uuid,
  lease_expires_at timestamptz,
  last_status integer,
  last_error text,
  last_duration_ms integer,
  last_attempt_at timestamptz,
  delivered_at timestamptz,
  created_at timestamptz not null default now(),
  constraint webhook_deliveries_pkey primary key (id),
  constraint webhook_deliveries_event_fkey foreign key (event_id)
    references bellwire.webhook_events (id) on delete cascade,
  constraint webhook_deliveries_state_known check (state in ('pending', 'delivered', 'dead')),
  constraint webhook_deliveries_last_error_length check (char_length(last_error) <= 255)
);
comment on table bellwire.webhook_deliveries is 'One row per event and receiver.';
comment on column bellwire.webhook_deliveries.position is
  'Gapless per subscription, given at the first claim; a receiver sees a gap where one was dead-lettered.';
comment on column bellwire.webhook_deliveries.leased_by is 'The worker that may send it until lease_expires_at.';

-- Deliveries of a subscription that is deleted go with it by trigger (sweep_subscriptions()); no foreign key, for the
-- reason given at activity_log.
create index webhook_deliveries_head on bellwire.webhook_deliveries (subscription_id, sequence)
  where state = 'pending' and sequence is not null;
comment on index bellwire.webhook_deliveries_head is
  'Serves claim_webhooks(): the oldest pending delivery of a subscription.';
create index webhook_deliveries_event on bellwire.webhook_deliveries (event_id);
comment on index bellwire.webhook_deliveries_event is 'Serves sequence_webhooks() and prune().';
create index webhook_deliveries_recent on bellwire.webhook_deliveries (subscription_id, id desc);
comment on index bellwire.webhook_deliveries_recent is 'Serves the list of the last deliveries of a subscription.';

reset role;
