-- The rules as rows. Figures and the taxonomy come from the reference (activity, watches, notifications).
set local role bellwire_owner;

insert into bellwire.settings (name, value, unit, description) values
  ('notification_window_seconds', 60, 'seconds', 'The same kind for the same person and resource within this time is one row'),
  ('sync_fanout_limit', 1000, 'watchers', 'Above this the people are told by the worker'),
  ('sync_fanout_events', 100, 'events', 'A statement that records more than this is fanned out by the worker'),
  ('fanout_chunk', 1000, 'people', 'How many the worker tells in one transaction'),
  ('webhook_lease_seconds', 30, 'seconds', 'How long a worker may hold a delivery'),
  ('webhook_expiry_hours', 72, 'hours', 'An older event is dead-lettered'),
  ('webhook_backoff_seconds', 10, 'seconds', 'The first pause of a failing receiver; doubled each time'),
  ('webhook_backoff_limit_seconds', 3600, 'seconds', 'The longest pause'),
  ('webhook_retention_days', 30, 'days', 'Finished deliveries and their events'),
  ('email_claim_minutes', 10, 'minutes', 'A claim older than this is taken over'),
  ('email_expiry_hours', 24, 'hours', 'An older notification is not mailed any more'),
  ('email_attempts', 5, 'attempts', 'After this many a message has failed'),
  ('email_retry_seconds', 60, 'seconds', 'The pause after a transient failure'),
  ('activity_retention_days', 365, 'days', 'The activity log'),
  ('session_hours', 168, 'hours', 'How long a sign-in lasts');

insert into bellwire.notification_kinds (kind, description, email_by_default, title_template, body_template, is_scoped) values
  ('mention', 'You were mentioned', true, '{actor} mentioned you in “{title}”', '{excerpt}', true),
  ('comment_on_my_doc', 'Somebody commented on a document of yours', true, '{actor} {verb} your document “{title}”', '{excerpt}', true),
  ('watched_comment', 'Somebody commented on something you watch', true, '{actor} {verb} “{title}”', '{excerpt}', true),
  ('watched_publish', 'Something you watch was published or restored', true, '{actor} {verb} “{title}”', '', true),
  ('watched_log_update', 'Something you watch was edited', false, '{actor} {verb} “{title}”', '', true),
  ('squad_invite', 'You were invited to a squad', true, '{actor} invited you to the squad “{title}”', '', false);

insert into bellwire.action_rules
  (action, verb, emits, event_data, auto_watch, target, watcher_kind, owner_kind, named_kind, coalesce_seconds)
values
  ('archive.create', 'created', false, null, null, 'self', null, null, 'mention', null),
  ('archive.rename', 'renamed', true,
    '{"archive_id": "ref", "name": "metadata.title", "previous": "metadata.previous"}', null, 'self', null, null, 'mention', null),
  ('archive.delete', 'deleted', true, '{"archive_id": "ref", "name": "metadata.title"}', null, 'self', null, null, 'mention', null),
  ('log.create', 'created', false, null, 'auto_create', 'self', null, null, 'mention', null),
  ('log.update', 'updated', true,
    '{"log_id": "ref", "archive_id": "parent_ref", "parent_id": "metadata.parent_id", "title": "title"}',
    'auto_edit', 'self', 'watched_log_update', null, 'mention', 300),
  ('log.rename', 'renamed', true,
    '{"log_id": "ref", "archive_id": "parent_ref", "parent_id": "metadata.parent_id", "title": "metadata.title",
      "previous": "metadata.previous"}',
    null, 'self', null, null, 'mention', null),
  ('log.move', 'moved', true,
    '{"log_id": "ref", "archive_id": "parent_ref", "parent_id": "metadata.parent_id",
      "previous_parent_id": "metadata.previous_parent_id", "title": "metadata.title"}',
    null, 'self', null, null, 'mention', null),
  ('log.delete', 'deleted', true,
    '{"log_id": "metadata.log_id", "archive_id": "ref", "parent_id": "metadata.parent_id", "title": "metadata.title"}',
    null, 'self', null, null, 'mention', null),
  ('log.publish', 'published', true,
    '{"log_id": "ref", "archive_id": "parent_ref", "parent_id": "metadata.parent_id",
      "version_id": "metadata.version_id", "title": "title"}',
    null, 'self', 'watched_publish', null, 'mention', null),
  ('log.restore', 'restored', true,
    '{"log_id": "ref", "archive_id": "parent_ref", "parent_id": "metadata.parent_id",
      "version_id": "metadata.version_id", "title": "title"}',
    null, 'self', 'watched_publish', null, 'mention', null),
  ('comment.create', 'commented on', false, null, 'auto_comment', 'parent', 'watched_comment', 'comment_on_my_doc', 'mention', null),
  ('comment.reply', 'replied on', false, null, null, 'parent', 'watched_comment', 'comment_on_my_doc', 'mention', null),
  ('comment.delete', 'deleted a comment on', false, null, null, 'parent', null, null, 'mention', null),
  ('comment.reopen', 'reopened a comment on', false, null, null, 'parent', null, null, 'mention', null),
  ('version.delete', 'deleted a version of', false, null, null, 'parent', null, null, 'mention', null),
  ('squad.invite_create', 'invited somebody to', false, null, null, 'self', null, null, 'squad_invite', null),
  ('squad.member_join', 'joined', false, null, null, 'self', null, null, 'mention', null),
  ('squad.member_leave', 'left', false, null, null, 'self', null, null, 'mention', null);

reset role;
