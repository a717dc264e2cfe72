-- A notification that is to be mailed gets its row in the outbox. write_notifications() has decided which, where the
-- preferences are at hand.
-- Called by: write_notifications(), as bellwire_definer, for notifications it has just written.
-- Errors: those of is_outage(); another failure lands in rule_failures, and the notifications stand.
-- Returns: how many it queued.
-- Source: reference 000, section 4 (defaults per kind); reference 003, "Email".
create or replace function bellwire.queue_email(mailed_ids bigint[])
returns bigint
language plpgsql
set search_path = ''
as $$
declare
  queued_count bigint;
  is_woken boolean;
  state text;
  message text;
  context text;
begin
  insert into bellwire.email_outbox (notification_id)
  select mailed.id from unnest(mailed_ids) as mailed(id);

  get diagnostics queued_count = row_count;
  is_woken := bellwire.wake('bellwire_emails');
  return queued_count;
exception when others then
  if bellwire.is_outage(sqlstate) then
    raise;
  end if;
  get stacked diagnostics state = returned_sqlstate, message = message_text, context = pg_exception_context;
  perform bellwire.fail_rule('queue_email', mailed_ids, state, message, context);
  return 0;
end
$$;

comment on function bellwire.queue_email(bigint[]) is 'Notifications to email_outbox.';

revoke all on function bellwire.queue_email(bigint[]) from public;
