-- What administrators need: retention that reaches every table that grows, and a sentence on every column.

-- Its result has a column more; it is made anew by its file, which has moved to functions/retention.
set local role bellwire_definer;
drop function if exists bellwire.prune(integer);
reset role;
do $$
begin
  if to_regclass('bellwire.applied_files') is not null then
    delete from bellwire.applied_files where path = 'functions/outbox/prune.sql';
  end if;
end
$$;

set local role bellwire_owner;

-- In a database that is in use row security is forced, and no policy lets the owner write.
alter table bellwire.settings no force row level security;
insert into bellwire.settings (name, value, unit, description) values
  ('read_notification_retention_days', 180, 'days', 'A notification, counted from when it was read; unread ones stay'),
  ('deleted_notification_retention_days', 90, 'days', 'A notification that is not in the bell'),
  ('email_retention_days', 90, 'days', 'What became of an e-mail, and its unsubscribe link'),
  ('rule_failure_retention_days', 30, 'days', 'What a rule could not do');
alter table bellwire.settings force row level security;

create index notifications_read on bellwire.notifications (read_at, id) where read_at is not null;
comment on index bellwire.notifications_read is 'Serves prune_batch(): what was read long ago.';
create index notifications_deleted on bellwire.notifications (deleted_at, id) where deleted_at is not null;
comment on index bellwire.notifications_deleted is 'Serves prune_batch(): what has not been in the bell for long.';
create index email_outbox_finished on bellwire.email_outbox (created_at, id) where state in ('sent', 'skipped', 'failed');
comment on index bellwire.email_outbox_finished is 'Serves prune_batch().';
create index webhook_deliveries_finished on bellwire.webhook_deliveries (created_at, id) where state in ('delivered', 'dead');
comment on index bellwire.webhook_deliveries_finished is 'Serves prune_batch().';
create index rule_failures_age on bellwire.rule_failures (created_at, id);
comment on index bellwire.rule_failures_age is 'Serves prune_batch() and admin_failures.';

-- Read by the key, from the oldest on: see prune_batch(). Nothing asks for it by time.
drop index bellwire.activity_log_age;
comment on index bellwire.webhook_deliveries_event is
  'Serves sequence_webhooks(), and prune_batch() asking whether an event is still needed.';
comment on index identity.sessions_expiry is 'Serves prune_batch().';

-- What a delivery is explained from, handed from one explain_ function to the next.
create type bellwire.delivery_case as (
  person bellwire.users,
  activity bellwire.activity_log,
  rule bellwire.action_rules,
  subject bellwire.resources,
  target bellwire.resources,
  word bellwire.watches,
  reason text,
  kind text,
  notification bellwire.notifications
);
comment on type bellwire.delivery_case is 'One person and one activity entry, with all that decides whether the one is told of the other.';
comment on column bellwire.delivery_case.person is 'Who is, or is not, told.';
comment on column bellwire.delivery_case.activity is 'What happened.';
comment on column bellwire.delivery_case.rule is 'What its action sets off.';
comment on column bellwire.delivery_case.subject is 'What it happened to.';
comment on column bellwire.delivery_case.target is 'Whose watchers and owner are meant: the subject or its parent. Null: it has no parent.';
comment on column bellwire.delivery_case.word is 'The person''s nearest watch on the way from the target up. Null: none.';
comment on column bellwire.delivery_case.reason is 'Why they would be told: named, owner or watcher. Null: nothing concerns them.';
comment on column bellwire.delivery_case.kind is 'The kind of notification for that reason.';
comment on column bellwire.delivery_case.notification is 'What they were told. Null: nothing that is still there.';
grant usage on type bellwire.delivery_case to bellwire_definer;

-- The engine.
comment on column bellwire.workspaces.id is 'The key.';
comment on column bellwire.workspaces.name is 'What people call it.';
comment on column bellwire.workspaces.created_at is 'When it was made.';

comment on column bellwire.users.id is 'The key.';
comment on column bellwire.users.name is 'As others read it, in notifications too.';
comment on column bellwire.users.email is 'Where e-mail goes, and the name to sign in with.';
comment on column bellwire.users.avatar_url is 'A picture. Null: none.';
comment on column bellwire.users.is_admin is 'Runs the installation; shown to the application, no rule of the database asks for it.';
comment on column bellwire.users.created_at is 'When they were added.';

comment on column bellwire.resource_types.type is 'What one thing of it is called, such as log.';
comment on column bellwire.resource_types.parent_type is 'What its things hang under. Null: under the workspace, or nothing.';
comment on column bellwire.resource_types.is_watchable is 'People may watch it by hand.';

comment on column bellwire.resources.id is 'The key of the registry; watches and activity point at it.';
comment on column bellwire.resources.type is 'Its row in resource_types; with ref it is unique.';
comment on column bellwire.resources.parent_id is 'What it hangs under. Null: a workspace, or something without a place.';
comment on column bellwire.resources.workspace_id is 'Its tenant. Null: it has no place yet, and records nothing.';
comment on column bellwire.resources.title is 'What it is called now. Null: nothing.';
comment on column bellwire.resources.owner_id is 'The person told as its owner. Null: nobody.';
comment on column bellwire.resources.created_at is 'When it was registered.';
comment on column bellwire.resources.deleted_at is 'When its row went. Null: it is there.';

comment on column bellwire.tracked_tables.table_name is 'The table.';
comment on column bellwire.tracked_tables.type is 'The type of its rows. Null: only actions on their parent are recorded.';
comment on column bellwire.tracked_tables.arguments is 'The arguments of the call, by name.';
comment on column bellwire.tracked_tables.created_at is 'When it was last called.';

comment on column bellwire.memberships.scope_id is 'The resource with members: a workspace, a squad, or one of yours.';
comment on column bellwire.memberships.user_id is 'The person.';
comment on column bellwire.memberships.role is 'From the most rights to the least: owner, admin, lead, member, guest.';
comment on column bellwire.memberships.created_at is 'When they joined.';

comment on column bellwire.settings.name is 'The name by which the rules ask for it.';
comment on column bellwire.settings.value is 'Whole and above zero; in force with the next statement.';
comment on column bellwire.settings.unit is 'What the value counts.';
comment on column bellwire.settings.description is 'What it decides.';

comment on column bellwire.rule_failures.id is 'The key.';
comment on column bellwire.rule_failures.rule is 'Which rule, or "track" and the table.';
comment on column bellwire.rule_failures.subject_ids is
  'What it worked on: activity entries; notifications for queue_email. Null: nothing that has an id.';
comment on column bellwire.rule_failures.sqlstate is 'The code of the error.';
comment on column bellwire.rule_failures.message is 'The words of the error.';
comment on column bellwire.rule_failures.context is 'Where it happened, innermost first.';
comment on column bellwire.rule_failures.created_at is 'When it happened.';

comment on column bellwire.notification_kinds.kind is 'The key, as an application names it.';
comment on column bellwire.notification_kinds.description is 'What people read where they turn it on and off, and why they got a mail.';
comment on column bellwire.notification_kinds.email_by_default is 'Mailed to whoever has not said otherwise.';
comment on column bellwire.notification_kinds.body_template is 'As title_template. Empty: no body.';

comment on column bellwire.action_rules.action is 'Type and verb, such as log.update.';
comment on column bellwire.action_rules.verb is 'As {verb} in a sentence: the actor … the title.';

comment on column bellwire.activity_log.id is 'The key, in order of insertion.';
comment on column bellwire.activity_log.workspace_id is 'The tenant it happened in.';
comment on column bellwire.activity_log.scope_id is 'Who may read it: the members of this resource.';
comment on column bellwire.activity_log.action is 'What happened: a row of action_rules.';
comment on column bellwire.activity_log.resource_id is 'What it happened to.';
comment on column bellwire.activity_log.ingest_event_id is
  'The key an outside source gave it, so that a retry is not a second entry. Null: our own.';
comment on column bellwire.activity_log.occurred_at is 'When it happened; earlier than created_at where an outside source tells it late.';
comment on column bellwire.activity_log.created_at is 'When it was recorded: the start of the transaction. Retention counts from here.';

comment on column bellwire.watches.resource_id is 'What is watched or muted, with everything below it.';
comment on column bellwire.watches.user_id is 'By whom.';
comment on column bellwire.watches.source is 'manual, or the action rule that began it: auto_…';
comment on column bellwire.watches.level is 'watching; ignored is a mute.';
comment on column bellwire.watches.created_at is 'Since when; a change of level keeps it.';

comment on column bellwire.notification_preferences.user_id is 'The person.';
comment on column bellwire.notification_preferences.kind is 'What they said it of.';
comment on column bellwire.notification_preferences.in_app is 'False: not in the bell. Null: the default, in the bell.';
comment on column bellwire.notification_preferences.email is 'Mailed or not. Null: as the kind says.';

comment on column bellwire.notifications.id is 'The key.';
comment on column bellwire.notifications.workspace_id is 'The tenant it is about.';
comment on column bellwire.notifications.user_id is 'Who is told.';
comment on column bellwire.notifications.kind is 'What it is about, and what the person can turn off.';
comment on column bellwire.notifications.actor_id is 'Who did it. Null: the system.';
comment on column bellwire.notifications.resource_id is 'What it is about: where the watchers are. Null: nothing that is tracked.';
comment on column bellwire.notifications.activity_id is
  'The entry that set it off. Null: notify(), or a mention in an edit that coalesced.';
comment on column bellwire.notifications.title is 'One line of plain text.';
comment on column bellwire.notifications.body is 'Plain text. Null: none.';
comment on column bellwire.notifications.link_path is 'Where to go in the application. Null: nowhere.';
comment on column bellwire.notifications.metadata is 'For the application; at most 8 KiB.';
comment on column bellwire.notifications.source_key is
  'The caller''s own key: unique per workspace and person as long as the row is kept. Null: a retry is told again.';
comment on column bellwire.notifications.created_at is 'When it was written: the start of the transaction.';
comment on column bellwire.notifications.read_at is 'When the person marked it read. Null: unread.';

comment on column bellwire.email_outbox.id is 'The key, and the order of sending.';
comment on column bellwire.email_outbox.notification_id is 'What is mailed.';
comment on column bellwire.email_outbox.state is
  'pending, sending; in the end sent, skipped (not wanted or not allowed any more) or failed.';
comment on column bellwire.email_outbox.attempts is 'How often it was claimed. Unit: attempts.';
comment on column bellwire.email_outbox.unsubscribe_token is 'The secret in the link that turns the kind off.';
comment on column bellwire.email_outbox.created_at is 'When it was queued.';
comment on column bellwire.email_outbox.claimed_at is 'When a worker last took it. Null: never.';
comment on column bellwire.email_outbox.retry_at is 'Not before this. Null: at once.';
comment on column bellwire.email_outbox.sent_at is 'When the mail server took it. Null: it has not.';
comment on column bellwire.email_outbox.error is 'What the last attempt said. Null: nothing went wrong.';

comment on column bellwire.fan_out_queue.id is 'The key, and the order of telling.';
comment on column bellwire.fan_out_queue.created_at is 'When it was queued.';

comment on column bellwire.webhook_subscriptions.id is 'The key.';
comment on column bellwire.webhook_subscriptions.url is 'Where events are sent.';
comment on column bellwire.webhook_subscriptions.is_enabled is 'False: nothing is sent and no new event is queued for it.';
comment on column bellwire.webhook_subscriptions.disabled_reason is 'Why it was turned off. Null: it is on, or nobody said.';
comment on column bellwire.webhook_subscriptions.paused_until is 'Not tried before this, after a failure. Null: at once.';
comment on column bellwire.webhook_subscriptions.consecutive_failures is
  'Failures since the last success; each doubles the pause. Unit: failures.';
comment on column bellwire.webhook_subscriptions.created_by is 'Who added it. Null: the system.';
comment on column bellwire.webhook_subscriptions.created_at is 'When it was added.';

comment on column bellwire.webhook_secrets.id is 'The key.';
comment on column bellwire.webhook_secrets.subscription_id is 'Whose secret it is.';
comment on column bellwire.webhook_secrets.secret is 'whsec_ and the key of the signature in base64.';
comment on column bellwire.webhook_secrets.created_at is 'When it was made; the newest signs first.';

comment on column bellwire.webhook_events.id is 'The key, in order of insertion.';
comment on column bellwire.webhook_events.event_id is 'What receivers know it by.';
comment on column bellwire.webhook_events.activity_id is 'The entry it was made from.';
comment on column bellwire.webhook_events.type is 'The action.';
comment on column bellwire.webhook_events.workspace_id is 'The tenant it happened in.';
comment on column bellwire.webhook_events.occurred_at is 'When it happened; too old a one is not sent any more.';
comment on column bellwire.webhook_events.created_at is 'When it was queued.';

comment on column bellwire.webhook_sequence.is_only is 'True; the key that allows no second row.';
comment on column bellwire.webhook_sequence.last_sequence is 'The newest number given.';

comment on column bellwire.webhook_deliveries.id is 'The key.';
comment on column bellwire.webhook_deliveries.subscription_id is 'The receiver.';
comment on column bellwire.webhook_deliveries.event_id is 'What is sent.';
comment on column bellwire.webhook_deliveries.sequence is 'That of its event; the order of sending. Null: not numbered yet.';
comment on column bellwire.webhook_deliveries.state is 'pending; in the end delivered or dead (given up).';
comment on column bellwire.webhook_deliveries.attempts is 'Failed attempts. Unit: attempts.';
comment on column bellwire.webhook_deliveries.lease_expires_at is 'When another worker may take it over. Null: nobody has it.';
comment on column bellwire.webhook_deliveries.last_status is 'The HTTP status of the last answer. Null: there was none.';
comment on column bellwire.webhook_deliveries.last_error is 'What went wrong at the last attempt. Null: nothing.';
comment on column bellwire.webhook_deliveries.last_duration_ms is 'How long the last attempt took. Unit: milliseconds.';
comment on column bellwire.webhook_deliveries.last_attempt_at is 'When the last attempt ended. Null: never tried.';
comment on column bellwire.webhook_deliveries.delivered_at is 'When the receiver took it. Null: it has not.';
comment on column bellwire.webhook_deliveries.created_at is 'When it was queued.';

comment on column bellwire.resource_entry.ref is 'The key of the row, as text.';
comment on column bellwire.resource_entry.parent_ref is 'The key of its parent. Null: none.';
comment on column bellwire.resource_entry.workspace_id is 'The tenant, for what has no parent.';
comment on column bellwire.resource_entry.title is 'What it is called.';
comment on column bellwire.resource_entry.owner_id is 'The person told as its owner.';
comment on column bellwire.member_entry.scope_ref is 'The key of the row with members, as text.';
comment on column bellwire.member_entry.user_id is 'The person.';
comment on column bellwire.member_entry.role is 'Their role in it.';

-- Sign-in.
comment on column identity.passwords.user_id is 'Whose it is.';
comment on column identity.passwords.password_hash is 'argon2id with its salt and costs, in PHC form.';
comment on column identity.passwords.changed_at is 'When it was set.';
comment on column identity.sessions.token_digest is 'SHA-256 of the token, in hexadecimal.';
comment on column identity.sessions.user_id is 'Who signed in.';
comment on column identity.sessions.provider is 'How: password, or the name of an identity provider.';
comment on column identity.sessions.ip is 'From which address. Null: not known.';
comment on column identity.sessions.user_agent is 'With which program, as it calls itself. Null: not known.';
comment on column identity.sessions.created_at is 'When they signed in.';
comment on column identity.sessions.last_seen_at is 'As created_at: nothing moves it yet.';
comment on column identity.sessions.expires_at is 'When it ends by itself.';

-- The suite.
comment on column suite.workspace_members.workspace_id is 'The workspace.';
comment on column suite.workspace_members.user_id is 'The person.';
comment on column suite.workspace_members.role is 'owner, admin, member or guest.';
comment on column suite.workspace_members.created_at is 'When they joined.';
comment on column suite.squads.id is 'The key.';
comment on column suite.squads.workspace_id is 'The tenant.';
comment on column suite.squads.name is 'What people call it.';
comment on column suite.squads.created_by is 'Who made it. Null: somebody who is gone, or the system.';
comment on column suite.squads.created_at is 'When it was made.';
comment on column suite.squad_members.squad_id is 'The squad.';
comment on column suite.squad_members.user_id is 'The person.';
comment on column suite.squad_members.role is 'owner, lead, member or guest.';
comment on column suite.squad_members.created_at is 'When they joined.';
comment on column suite.squad_invitations.id is 'The key.';
comment on column suite.squad_invitations.squad_id is 'Into which squad.';
comment on column suite.squad_invitations.user_id is 'Who is invited.';
comment on column suite.squad_invitations.invited_by is 'By whom. Null: somebody who is gone, or the system.';
comment on column suite.squad_invitations.created_at is 'When they were invited.';
comment on column suite.squad_invitations.accepted_at is 'When they joined by it. Null: it is open.';
comment on column suite.archives.id is 'The key.';
comment on column suite.archives.squad_id is 'The squad that owns it. Null: nobody reads it.';
comment on column suite.archives.name is 'What people call it.';
comment on column suite.archives.created_by is 'Who made it. Null: somebody who is gone, or the system.';
comment on column suite.archives.created_at is 'When it was made.';
comment on column suite.logs.id is 'The key.';
comment on column suite.logs.archive_id is 'The archive it is in.';
comment on column suite.logs.squad_id is 'That of its archive, repeated for the policy.';
comment on column suite.logs.parent_id is 'The document it is below. Null: at the top of its archive.';
comment on column suite.logs.title is 'What people call it.';
comment on column suite.logs.html is 'What it says.';
comment on column suite.logs.created_by is 'Who wrote it first, and its owner. Null: somebody who is gone, or the system.';
comment on column suite.logs.updated_by is 'Who changed it last. Null: nobody, or somebody who is gone.';
comment on column suite.logs.created_at is 'When it was written first.';
comment on column suite.logs.updated_at is 'When it was changed last.';
comment on column suite.logs.restored_from_id is 'The version its text was last taken back from. Null: never.';
comment on column suite.versions.id is 'The key.';
comment on column suite.versions.log_id is 'The document.';
comment on column suite.versions.squad_id is 'That of its document, repeated for the policy.';
comment on column suite.versions.title is 'The title as it was published.';
comment on column suite.versions.html is 'The text as it was published.';
comment on column suite.versions.created_by is 'Who published it. Null: somebody who is gone, or the system.';
comment on column suite.versions.created_at is 'When it was published.';
comment on column suite.comments.id is 'The key.';
comment on column suite.comments.log_id is 'The document.';
comment on column suite.comments.squad_id is 'That of its document, repeated for the policy.';
comment on column suite.comments.parent_id is 'The comment it replies to. Null: none.';
comment on column suite.comments.body is 'What it says.';
comment on column suite.comments.author_id is 'Who wrote it. Null: somebody who is gone, or the system.';
comment on column suite.comments.created_at is 'When it was written.';
comment on column suite.comments.updated_at is 'When it was changed last.';
comment on column suite.comments.resolved_at is 'When it was settled. Null: it is open.';

reset role;
