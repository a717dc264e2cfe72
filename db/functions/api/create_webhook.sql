-- Adds a receiver. The secret is the server's, sealed where it has a key: it is not given back.
-- Called by: authenticated.
-- Errors: those of require_webhook_administrator() and add_webhook_subscription(); 23514 for a secret of another form.
create or replace function api.create_webhook(
  url text,
  workspace_id bigint,
  event_types text[],
  name text,
  seal_id uuid,
  stored_secret text
)
returns setof bellwire.webhook_details
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  new_id bigint;
begin
  perform bellwire.require_webhook_administrator(workspace_id);
  new_id := bellwire.add_webhook_subscription(url, workspace_id, event_types, name, seal_id, stored_secret);
  return query select * from bellwire.describe_webhooks(array[new_id]);
end
$$;

comment on function api.create_webhook(text, bigint, text[], text, uuid, text) is 'Adds a webhook subscription.';

revoke all on function api.create_webhook(text, bigint, text[], text, uuid, text) from public;
grant execute on function api.create_webhook(text, bigint, text[], text, uuid, text) to authenticated;
