-- The check at the head of what is done to one subscription. Who may not administer it does not see it.
-- Called by: api functions, as bellwire_definer.
-- Errors: P0002.
create or replace function bellwire.administered_webhook(id bigint)
returns bellwire.webhook_subscriptions
language plpgsql
stable
set search_path = ''
as $$
declare
  subscription bellwire.webhook_subscriptions;
begin
  select known.* into subscription from bellwire.webhook_subscriptions as known where known.id = administered_webhook.id;
  if subscription.id is null or not bellwire.administers_webhooks(subscription.workspace_id) then
    raise exception 'there is no such webhook subscription'
      using errcode = 'P0002', hint = 'It was deleted, or is not yours to administer.';
  end if;
  return subscription;
end
$$;

comment on function bellwire.administered_webhook(bigint) is 'The subscription, where the caller may administer it.';

revoke all on function bellwire.administered_webhook(bigint) from public;
