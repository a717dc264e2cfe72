-- Gives a receiver another address, other types, another name. Pending deliveries go to the new address, but for the one
-- that is being sent; the types count for events from now on.
-- Called by: bellwire_admin, api.change_webhook().
-- Errors: P0002 for an unknown subscription; those of check_webhook().
create or replace function bellwire.change_webhook_subscription(id bigint, url text, event_types text[], name text)
returns void
language plpgsql
security definer
set search_path = ''
as $$
declare
  before bellwire.webhook_subscriptions;
begin
  before := bellwire.lock_webhook_subscription(id);
  perform bellwire.check_webhook(url, event_types, name);
  update bellwire.webhook_subscriptions as subscription
  set url = change_webhook_subscription.url,
      event_types = change_webhook_subscription.event_types,
      name = change_webhook_subscription.name,
      changed_at = case when change_webhook_subscription.url <> before.url then clock_timestamp() else before.changed_at end
  where subscription.id = change_webhook_subscription.id;
  perform bellwire.note_webhook_change(before, 'changed', jsonb_build_object(
    'is_url_changed', url <> before.url,
    'host', bellwire.webhook_host(url),
    'previous_host', bellwire.webhook_host(before.url),
    'event_types', event_types,
    'previous_event_types', before.event_types,
    'name', name,
    'previous_name', before.name));
end
$$;

comment on function bellwire.change_webhook_subscription(bigint, text, text[], text) is
  'Changes address, types and name of a subscription.';

revoke all on function bellwire.change_webhook_subscription(bigint, text, text[], text) from public;
grant execute on function bellwire.change_webhook_subscription(bigint, text, text[], text) to bellwire_admin;
