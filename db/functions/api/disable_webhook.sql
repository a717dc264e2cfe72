-- Stops sending to a receiver.
-- Called by: authenticated.
-- Errors: P0002.
create or replace function api.disable_webhook(webhook_id bigint, reason text default null)
returns setof bellwire.webhook_details
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform bellwire.disable_webhook_subscription((bellwire.administered_webhook(webhook_id)).id, coalesce(reason, 'by an administrator'));
  return query select * from bellwire.describe_webhooks(array[webhook_id]);
end
$$;

comment on function api.disable_webhook(bigint, text) is 'Disables a webhook subscription.';

revoke all on function api.disable_webhook(bigint, text) from public;
grant execute on function api.disable_webhook(bigint, text) to authenticated;
