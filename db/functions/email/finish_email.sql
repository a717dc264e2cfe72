-- Writes down what became of one attempt: sent; transient (pending again, failed at the fifth attempt); permanent or
-- uncertain (failed: a missing copy is a smaller harm than a second one, the notification itself is in the inbox).
-- An attempt that was taken over meanwhile changes nothing.
-- Called by: bellwire_worker.
-- Errors: 22023 for an unknown result.
-- Returns: the new state, or stale.
-- Source: reference 003, "Email".
create or replace function bellwire.finish_email(id bigint, attempt integer, result text, error text)
returns text
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  new_state text;
begin
  if result is null or result not in ('sent', 'transient', 'permanent', 'uncertain') then
    raise exception 'a result is sent, transient, permanent or uncertain, not %', result
      using errcode = '22023', hint = 'This function is called by the worker.';
  end if;
  update bellwire.email_outbox as outbox
  set state = case
        when result = 'sent' then 'sent'
        when result = 'transient'
          and outbox.attempts < (select value from bellwire.settings where name = 'email_attempts') then 'pending'
        else 'failed'
      end,
      retry_at = case when result = 'transient' then now() + make_interval(
        secs => (select value from bellwire.settings where name = 'email_retry_seconds')) end,
      sent_at = case when result = 'sent' then now() end,
      error = left(error, 255)
  where outbox.id = id and outbox.attempts = attempt and outbox.state = 'sending'
  returning outbox.state into new_state;
  return coalesce(new_state, 'stale');
end
$$;

comment on function bellwire.finish_email(bigint, integer, text, text) is
  'Records the outcome of one attempt to send a message.';

revoke all on function bellwire.finish_email(bigint, integer, text, text) from public;
grant execute on function bellwire.finish_email(bigint, integer, text, text) to bellwire_worker;
