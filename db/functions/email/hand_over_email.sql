-- Notes that the mail server begins to take the message: if the worker is lost now, nobody knows whether it was sent,
-- and claim_emails() gives it to no other. Committed before the first byte of the message is written.
-- Called by: bellwire_worker.
-- Errors: none of its own.
-- Returns: false when the attempt was taken over meanwhile: then nothing may be handed over.
create or replace function bellwire.hand_over_email(id bigint, attempt integer)
returns boolean
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
begin
  update bellwire.email_outbox as outbox
  set handed_over_at = clock_timestamp()
  where outbox.id = id and outbox.attempts = attempt and outbox.state = 'sending';
  return found;
end
$$;

comment on function bellwire.hand_over_email(bigint, integer) is
  'Records that the mail server begins to take a message; whether it may.';

revoke all on function bellwire.hand_over_email(bigint, integer) from public;
grant execute on function bellwire.hand_over_email(bigint, integer) to bellwire_worker;
