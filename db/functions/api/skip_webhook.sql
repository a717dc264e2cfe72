-- Gives up the head of a receiver.
-- Called by: authenticated.
-- Errors: P0002; those of skip_webhook_delivery().
create or replace function api.skip_webhook(delivery_id bigint)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform bellwire.administered_delivery(delivery_id);
  perform bellwire.skip_webhook_delivery(delivery_id);
end
$$;

comment on function api.skip_webhook(bigint) is 'Gives up the oldest pending delivery of a webhook subscription.';

revoke all on function api.skip_webhook(bigint) from public;
grant execute on function api.skip_webhook(bigint) to authenticated;
