-- One webhook subscription.
-- Called by: authenticated.
-- Errors: P0002.
create or replace function api.read_webhook(webhook_id bigint)
returns setof bellwire.webhook_details
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return query select * from bellwire.describe_webhooks(array[(bellwire.administered_webhook(webhook_id)).id]);
end
$$;

comment on function api.read_webhook(bigint) is 'A webhook subscription.';

revoke all on function api.read_webhook(bigint) from public;
grant execute on function api.read_webhook(bigint) to authenticated;
