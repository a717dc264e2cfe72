-- Lets a receiver be sent to again.
-- Called by: authenticated.
-- Errors: P0002.
create or replace function api.enable_webhook(webhook_id bigint)
returns setof bellwire.webhook_details
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform bellwire.enable_webhook_subscription((bellwire.administered_webhook(webhook_id)).id);
  return query select * from bellwire.describe_webhooks(array[webhook_id]);
end
$$;

comment on function api.enable_webhook(bigint) is 'Enables a webhook subscription.';

revoke all on function api.enable_webhook(bigint) from public;
grant execute on function api.enable_webhook(bigint) to authenticated;
