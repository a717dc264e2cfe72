-- What became of a notification: when it was told, whether it was read, whether it shows, and its e-mail.
-- Called by: explain_delivery(), as bellwire_definer.
-- Errors: none.
create or replace function bellwire.explain_notification(told bellwire.notifications)
returns text
language sql
stable
set search_path = ''
as $$
  select concat_ws(' ',
    format('Told: notification %s (%s) on %s%s, %s.', told.id, told.kind, date_trunc('second', told.created_at),
      case when told.coalesced_count > 0 then format(', counted up %s times since', told.coalesced_count) else '' end,
      case
        when told.deleted_at is not null then 'not in the bell'
        when told.read_at is not null then 'read on ' || date_trunc('second', told.read_at)
        else 'unread'
      end),
    case
      when not told.is_mailed then 'Not wanted by e-mail.'
      when outbox.id is null then 'Its e-mail is gone: see rule_failures for queue_email, and email_retention_days.'
      else format('E-mail %s: %s%s.', outbox.id, outbox.state,
        coalesce(' on ' || date_trunc('second', outbox.sent_at), ' (' || outbox.error || ')', ''))
    end,
    case when not bellwire.can_read(told.user_id, told.workspace_id, told.scope_id)
      then 'It does not show any more: they can no longer read what it is about.' end)
  from (select) as one
  left join bellwire.email_outbox as outbox on outbox.notification_id = told.id
$$;

comment on function bellwire.explain_notification(bellwire.notifications) is
  'What became of a notification and of its e-mail, in sentences.';

revoke all on function bellwire.explain_notification(bellwire.notifications) from public;
