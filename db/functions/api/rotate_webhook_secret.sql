-- Gives a receiver a new secret: the server's, sealed where it has a key.
-- Called by: authenticated.
-- Errors: P0002; 23514 for a secret of another form.
create or replace function api.rotate_webhook_secret(webhook_id bigint, keeps_old boolean, seal_id uuid, stored_secret text)
returns setof bellwire.webhook_details
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
begin
  perform bellwire.write_webhook_secret((bellwire.administered_webhook(webhook_id)).id, keeps_old, seal_id, stored_secret);
  return query select * from bellwire.describe_webhooks(array[webhook_id]);
end
$$;

comment on function api.rotate_webhook_secret(bigint, boolean, uuid, text) is 'Replaces the secret of a webhook subscription.';

revoke all on function api.rotate_webhook_secret(bigint, boolean, uuid, text) from public;
grant execute on function api.rotate_webhook_secret(bigint, boolean, uuid, text) to authenticated;
