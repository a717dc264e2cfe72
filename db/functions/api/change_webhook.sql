-- Gives a receiver another address, other types, another name.
-- Called by: authenticated.
-- Errors: P0002; those of check_webhook().
create or replace function api.change_webhook(webhook_id bigint, url text, event_types text[], name text)
returns setof bellwire.webhook_details
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
begin
  perform bellwire.change_webhook_subscription((bellwire.administered_webhook(webhook_id)).id, url, event_types, name);
  return query select * from bellwire.describe_webhooks(array[webhook_id]);
end
$$;

comment on function api.change_webhook(bigint, text, text[], text) is 'Changes a webhook subscription.';

revoke all on function api.change_webhook(bigint, text, text[], text) from public;
grant execute on function api.change_webhook(bigint, text, text[], text) to authenticated;
