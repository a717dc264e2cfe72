-- Webhook subscriptions are administered by people: names, sealed secrets that are rotated, tests, replays, a record of
-- who did what, and a catalogue of the types of events.
set local role bellwire_definer;
drop function if exists bellwire.create_webhook_subscription(text, bigint, text[]);
reset role;

set local role bellwire_owner;

alter table bellwire.webhook_subscriptions
  add column name text,
  add constraint webhook_subscriptions_name_length check (char_length(name) between 1 and 255);
comment on column bellwire.webhook_subscriptions.name is 'What people call it. Null: nothing.';

-- Sealed or, where there is no key, plain. Bound to an id of its own, which whoever seals it gives, so that it can be
-- sealed before the subscription is written.
alter table bellwire.webhook_secrets
  add column seal_id uuid not null default gen_random_uuid(),
  add constraint webhook_secrets_seal_id_key unique (seal_id),
  drop constraint webhook_secrets_secret_form,
  add constraint webhook_secrets_secret_form check (
    secret ~ '^whsec_[A-Za-z0-9+/]{32,88}={0,2}$'
    or secret ~ '^sealed\.1\.[0-9a-f]{8}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{1,200}$');
comment on column bellwire.webhook_secrets.secret is
  'What deliveries are signed with, sealed with the SECRETS_KEY of server and worker; as it is where they have none.';
comment on column bellwire.webhook_secrets.seal_id is
  'What the sealed text is bound to: put into another row, it does not open.';

create index webhook_secrets_expiring on bellwire.webhook_secrets (expires_at, id) where expires_at is not null;
comment on index bellwire.webhook_secrets_expiring is 'Serves prune_batch().';

-- A test belongs to no activity and, of a subscription to every workspace, to no workspace.
alter table bellwire.webhook_events alter column activity_id drop not null, alter column workspace_id drop not null;
comment on column bellwire.webhook_events.activity_id is 'The entry it tells of. Null: a test.';
comment on column bellwire.webhook_events.workspace_id is 'Tenant. Null: the test of a subscription to every workspace.';

alter table bellwire.webhook_deliveries
  add column is_test boolean not null default false,
  add column replayed_at timestamptz;
comment on column bellwire.webhook_deliveries.is_test is
  'Sent once, beside the queue and whatever the pause; it has no sequence here, so that the queue does not wait for it.';
comment on column bellwire.webhook_deliveries.replayed_at is
  'When an administrator asked for it again; its age counts from then. Null: written with its event.';

create index webhook_deliveries_test on bellwire.webhook_deliveries (subscription_id, id) where is_test and state = 'pending';
comment on index bellwire.webhook_deliveries_test is 'Serves claim_webhook_tests(), which mostly finds it empty.';

create table bellwire.webhook_changes (
  id bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  actor_id bigint,
  database_role text not null default session_user,
  subscription_id bigint not null,
  workspace_id bigint,
  what text not null,
  details jsonb not null default '{}',
  constraint webhook_changes_pkey primary key (id),
  constraint webhook_changes_workspace_fkey foreign key (workspace_id)
    references bellwire.workspaces (id) on delete cascade,
  constraint webhook_changes_database_role_length check (char_length(database_role) <= 63),
  constraint webhook_changes_what_known check (what in (
    'created', 'changed', 'disabled', 'enabled', 'rotated', 'deleted', 'skipped', 'redelivered', 'replayed', 'tested')),
  constraint webhook_changes_details_size check (octet_length(details::text) <= 8192)
);
comment on table bellwire.webhook_changes is 'Who did what to a webhook subscription. Append-only, and without secrets.';
comment on column bellwire.webhook_changes.id is 'The key.';
comment on column bellwire.webhook_changes.at is 'When.';
comment on column bellwire.webhook_changes.actor_id is 'Who. Null: nobody the database knows as a person; see database_role.';
comment on column bellwire.webhook_changes.database_role is 'Whose connection it was.';
comment on column bellwire.webhook_changes.subscription_id is 'To which subscription; it may be gone.';
comment on column bellwire.webhook_changes.workspace_id is 'Whose subscription. Null: to every workspace.';
comment on column bellwire.webhook_changes.what is 'What was done.';
comment on column bellwire.webhook_changes.details is
  'What was given. Of an address only scheme and host: the rest of it is often a secret.';

create index webhook_changes_workspace on bellwire.webhook_changes (workspace_id, id desc);
comment on index bellwire.webhook_changes_workspace is 'Serves list_webhook_changes() and the deletion of a workspace.';
create index webhook_changes_subscription on bellwire.webhook_changes (subscription_id, id desc);
comment on index bellwire.webhook_changes_subscription is 'Serves list_webhook_changes() of one subscription.';

create type bellwire.webhook_details as (
  id bigint,
  workspace_id bigint,
  url text,
  name text,
  event_types text[],
  state text,
  is_enabled boolean,
  disabled_reason text,
  paused_until timestamptz,
  consecutive_failures integer,
  secret_created_at timestamptz,
  old_secret_expires_at timestamptz,
  actor_id bigint,
  actor_name text,
  actor_avatar_url text,
  created_at timestamptz
);
comment on type bellwire.webhook_details is 'A webhook subscription as those who administer it read it.';
comment on column bellwire.webhook_details.id is 'The key.';
comment on column bellwire.webhook_details.workspace_id is 'Whose events. Null: those of every workspace.';
comment on column bellwire.webhook_details.url is 'Where they are sent.';
comment on column bellwire.webhook_details.name is 'What people call it.';
comment on column bellwire.webhook_details.event_types is 'Which. Null: every type.';
comment on column bellwire.webhook_details.state is 'delivering; stalled: the last attempt failed; off: disabled.';
comment on column bellwire.webhook_details.is_enabled is 'Whether anything is sent.';
comment on column bellwire.webhook_details.disabled_reason is 'Why not.';
comment on column bellwire.webhook_details.paused_until is 'No attempt before then.';
comment on column bellwire.webhook_details.consecutive_failures is 'Since the last success.';
comment on column bellwire.webhook_details.secret_created_at is 'How old the secret is.';
comment on column bellwire.webhook_details.old_secret_expires_at is 'Until when the one before it signs, too. Null: it does not.';
comment on column bellwire.webhook_details.actor_id is 'Who made it. Null: an administrator of the database.';
comment on column bellwire.webhook_details.actor_name is 'Their name. Null: not of a workspace of the reader.';
comment on column bellwire.webhook_details.actor_avatar_url is 'Their picture.';
comment on column bellwire.webhook_details.created_at is 'When it was made.';
grant usage on type bellwire.webhook_details to bellwire_definer;

-- Row security is forced, and no policy lets the owner write.
alter table bellwire.settings no force row level security;
insert into bellwire.settings (name, value, unit, description) values
  ('webhook_subscription_limit', 50, 'receivers', 'So many webhook subscriptions an installation may have'),
  ('webhook_rotation_hours', 24, 'hours', 'How long the old secret still signs after a rotation'),
  ('webhook_replay_limit', 10000, 'events', 'So many events one replay sends again'),
  ('webhook_change_retention_days', 365, 'days', 'Who did what to a webhook subscription');
alter table bellwire.settings force row level security;

-- The catalogue of event types: what cannot be derived from event_data.
alter table bellwire.action_rules
  add column event_description text,
  add column event_example jsonb,
  add constraint action_rules_event_description_length check (char_length(event_description) between 1 and 500),
  add constraint action_rules_event_example_object
    check (jsonb_typeof(event_example) = 'object' and octet_length(event_example::text) <= 4096);
comment on column bellwire.action_rules.event_description is
  'For the catalogue of event types: when it is sent. Null: worked out from the action.';
comment on column bellwire.action_rules.event_example is
  'For the catalogue of event types: the data of such an event. With it the type is in the public API description.';

alter table bellwire.action_rules no force row level security;
update bellwire.action_rules as rule
set event_description = known.description, event_example = known.example
from (values
  ('archive.rename', 'An archive has another name.',
    '{"name": "Meeting minutes", "previous": "Minutes", "archive_id": 2}'::jsonb),
  ('archive.delete', 'An archive was deleted; a log.delete follows for each document in it.',
    '{"name": "Meeting minutes", "archive_id": 2}'),
  ('log.update', 'The text of a document was edited. Edits of one person within five minutes are one event.',
    '{"title": "Monday", "log_id": 3, "parent_id": null, "archive_id": 2}'),
  ('log.rename', 'A document has another title.',
    '{"title": "Monday, 30 November", "log_id": 3, "previous": "Monday", "parent_id": null, "archive_id": 2}'),
  ('log.move', 'A document has another parent in its archive.',
    '{"title": "Agenda", "log_id": 4, "parent_id": 3, "archive_id": 2, "previous_parent_id": null}'),
  ('log.publish', 'A version of a document was published.',
    '{"title": "Monday, 30 November", "log_id": 3, "parent_id": null, "archive_id": 2, "version_id": 2}'),
  ('log.restore', 'A document was set back to a published version.',
    '{"title": "Monday, 30 November", "log_id": 3, "parent_id": null, "archive_id": 2, "version_id": 2}'),
  ('log.delete', 'A document was deleted.',
    '{"title": "Agenda", "log_id": 4, "parent_id": 3, "archive_id": 2}')
) as known(action, description, example)
where rule.action = known.action;
alter table bellwire.action_rules force row level security;

reset role;
