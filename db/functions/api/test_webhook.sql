-- Sends a test event to a receiver.
-- Called by: authenticated.
-- Errors: P0002; those of bellwire.test_webhook().
create or replace function api.test_webhook(webhook_id bigint)
returns bigint
language plpgsql
security definer
set search_path = ''
as $$
begin
  return bellwire.test_webhook((bellwire.administered_webhook(webhook_id)).id);
end
$$;

comment on function api.test_webhook(bigint) is 'Sends a test event; returns its delivery.';

revoke all on function api.test_webhook(bigint) from public;
grant execute on function api.test_webhook(bigint) to authenticated;
