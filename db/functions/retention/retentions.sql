-- What may go, and when: the one list of retention, in the order in which it is worked off. An event goes after its
-- deliveries. Unread notifications are not in it: they are the reason for the inbox.
-- A table that nothing else leaves is read by its key, from the oldest row on; where most rows stay for good, there is an
-- index by the time that counts (is_by_time), over the rows of the condition.
-- With the definer's rights, because it names tables of schemas that the worker does not see.
-- Called by: prune_batch(), bellwire_worker, bellwire_admin.
-- Errors: none.
-- Source: reference 000, section 2b, "Prune"; DESIGN, "Retention". The figures of the inbox and of e-mail are our own: see
-- docs/dba.md.
create or replace function bellwire.retentions()
returns table (
  what text,
  table_name regclass,
  at_column text,
  key_column text,
  condition text,
  setting text,
  is_by_time boolean
)
language sql
stable
security definer
set search_path = ''
as $$
  values
    ('webhook_deliveries', 'bellwire.webhook_deliveries'::regclass, 'created_at', 'id',
      'state in (''delivered'', ''dead'')', 'webhook_retention_days', true),
    -- Written by a transaction that began before the deletion of their subscription and ended after it.
    ('orphaned_deliveries', 'bellwire.webhook_deliveries', 'created_at', 'id',
      'state = ''pending'' and not exists (
        select from bellwire.webhook_subscriptions as subscription where subscription.id = old.subscription_id)',
      'webhook_retention_days', false),
    ('webhook_events', 'bellwire.webhook_events', 'created_at', 'id',
      'not exists (select from bellwire.webhook_deliveries as delivery where delivery.event_id = old.id)',
      'webhook_retention_days', false),
    ('webhook_changes', 'bellwire.webhook_changes', 'at', 'id', 'true', 'webhook_change_retention_days', false),
    -- What a rotation left behind, at its own date.
    ('webhook_secrets', 'bellwire.webhook_secrets', 'expires_at', 'id', 'expires_at is not null', null, true),
    ('emails', 'bellwire.email_outbox', 'created_at', 'id',
      'state in (''sent'', ''skipped'', ''failed'')', 'email_retention_days', true),
    ('read_notifications', 'bellwire.notifications', 'read_at', 'id',
      'read_at is not null', 'read_notification_retention_days', true),
    ('deleted_notifications', 'bellwire.notifications', 'deleted_at', 'id',
      'deleted_at is not null', 'deleted_notification_retention_days', true),
    ('activity_log', 'bellwire.activity_log', 'created_at', 'id', 'true', 'activity_retention_days', false),
    ('rule_failures', 'bellwire.rule_failures', 'created_at', 'id', 'true', 'rule_failure_retention_days', true),
    ('invitations', 'identity.invitations', 'expires_at', 'id', 'true', 'invitation_retention_days', true),
    -- Expiry is their own date.
    ('sessions', 'identity.sessions', 'expires_at', 'token_digest', 'true', null, true),
    ('sign_in_steps', 'identity.sign_in_steps', 'expires_at', 'token_digest', 'true', null, true),
    ('password_resets', 'identity.password_resets', 'expires_at', 'user_id', 'true', null, true),
    ('email_changes', 'identity.email_changes', 'expires_at', 'user_id', 'true', null, true),
    ('rate_limits', 'identity.rate_limits', 'ends_at', 'key_digest', 'true', null, true)
$$;

comment on function bellwire.retentions() is
  'What retention deletes: the table, the time that counts, which rows, and the setting with the days.';

revoke all on function bellwire.retentions() from public;
grant execute on function bellwire.retentions() to bellwire_worker, bellwire_admin;
