-- Sends a dead delivery again.
-- Called by: authenticated.
-- Errors: P0002; those of bellwire.redeliver_webhook().
create or replace function api.redeliver_webhook(delivery_id bigint)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform bellwire.administered_delivery(delivery_id);
  perform bellwire.redeliver_webhook(delivery_id);
end
$$;

comment on function api.redeliver_webhook(bigint) is 'Sends a dead webhook delivery again.';

revoke all on function api.redeliver_webhook(bigint) from public;
grant execute on function api.redeliver_webhook(bigint) to authenticated;
