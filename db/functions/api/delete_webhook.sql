-- Removes a receiver.
-- Called by: authenticated.
-- Errors: P0002.
create or replace function api.delete_webhook(webhook_id bigint)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform bellwire.delete_webhook_subscription((bellwire.administered_webhook(webhook_id)).id);
end
$$;

comment on function api.delete_webhook(bigint) is 'Deletes a webhook subscription.';

revoke all on function api.delete_webhook(bigint) from public;
grant execute on function api.delete_webhook(bigint) to authenticated;
