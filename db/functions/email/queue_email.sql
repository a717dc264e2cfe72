-- Rule 100 of the inbox: a notification whose kind the person wants by e-mail gets its row in the outbox.
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
  begin
    insert into bellwire.email_outbox (notification_id)
    select notification.id
    from written as notification
    join bellwire.notification_kinds as kind on kind.kind = notification.kind
    left join bellwire.notification_preferences as preference
      on preference.user_id = notification.user_id and preference.kind = notification.kind
    where coalesce(preference.email, kind.email_by_default)
    order by notification.id;

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

comment on function bellwire.queue_email() is 'Notifications to email_outbox, by preference.';

revoke all on function bellwire.queue_email() from public;
grant execute on function bellwire.queue_email() to bellwire_owner;
