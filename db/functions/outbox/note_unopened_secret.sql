-- Tells the operator that a secret cannot be opened: once a day per receiver, not at each attempt.
-- Called by: bellwire_worker.
-- Errors: none.
create or replace function bellwire.note_unopened_secret(subscription_id bigint, reason text)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  if exists (
    select
    from bellwire.rule_failures as known
    where known.rule = 'webhook_secrets'
      and known.subject_ids = array[note_unopened_secret.subscription_id]
      and known.created_at > now() - interval '1 day')
  then
    return;
  end if;
  perform bellwire.fail_rule(
    'webhook_secrets', array[note_unopened_secret.subscription_id], '55000', reason,
    'Put the key back into SECRETS_KEY of the worker, or rotate the secret.');
end
$$;

comment on function bellwire.note_unopened_secret(bigint, text) is 'Writes a rule failure for a secret that cannot be opened.';

revoke all on function bellwire.note_unopened_secret(bigint, text) from public;
grant execute on function bellwire.note_unopened_secret(bigint, text) to bellwire_worker;
