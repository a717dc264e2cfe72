-- Rule 100 of the inbox: a notification that is to be mailed gets its row in the outbox. write_notifications() has
-- decided that, where the preferences are at hand.
-- Called by: trigger _100_queue_email on bellwire.notifications, after each insert statement.
-- Errors: none; a failure lands in rule_failures.
-- Source: reference 000, section 4 (defaults per kind); reference 003, "Email".
create or replace function bellwire.queue_email()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  queued_count bigint;
  state text;
  message text;
  context text;
begin
  -- Most notifications are not mailed; then the block below, which is a subtransaction, is not begun.
  if not exists (select from written as notification where notification.is_mailed) then
    return null;
  end if;
  begin
    insert into bellwire.email_outbox (notification_id)
    select notification.id
    from written as notification
    where notification.is_mailed;

    get diagnostics queued_count = row_count;
    if queued_count > 0 then
      perform bellwire.wake('bellwire_emails');
    end if;
  exception when others then
    get stacked diagnostics state = returned_sqlstate, message = message_text, context = pg_exception_context;
    perform bellwire.fail_rule('queue_email', (select array_agg(id) from written), state, message, context);
  end;
  return null;
end
$$;

comment on function bellwire.queue_email() is 'Rule 100 of the inbox: notifications to email_outbox.';

revoke all on function bellwire.queue_email() from public;
grant execute on function bellwire.queue_email() to bellwire_owner;
