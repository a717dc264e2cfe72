-- Removes a receiver with its secrets and deliveries. What is being sent at this moment arrives; its outcome is not noted.
-- Called by: bellwire_admin, api.delete_webhook().
-- Errors: P0002 for an unknown subscription.
create or replace function bellwire.delete_webhook_subscription(id bigint)
returns void
language plpgsql
security definer
set search_path = ''
as $$
declare
  before bellwire.webhook_subscriptions;
begin
  before := bellwire.lock_webhook_subscription(id);
  delete from bellwire.webhook_subscriptions as subscription where subscription.id = before.id;
  perform bellwire.note_webhook_change(before, 'deleted', jsonb_build_object(
    'host', bellwire.webhook_host(before.url), 'name', before.name));
end
$$;

comment on function bellwire.delete_webhook_subscription(bigint) is 'Deletes a subscription and all it has.';

revoke all on function bellwire.delete_webhook_subscription(bigint) from public;
grant execute on function bellwire.delete_webhook_subscription(bigint) to bellwire_admin;
