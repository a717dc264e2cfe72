-- Stops sending to a receiver. Nothing new is written for it; what is pending stays for the day it is enabled again.
-- Called by: bellwire_admin, api.disable_webhook(), follow_webhook().
-- Errors: P0002 for an unknown subscription.
create or replace function bellwire.disable_webhook_subscription(id bigint, reason text default 'by an administrator')
returns void
language plpgsql
security definer
set search_path = ''
as $$
declare
  before bellwire.webhook_subscriptions;
begin
  before := bellwire.lock_webhook_subscription(id);
  update bellwire.webhook_subscriptions as subscription
  set is_enabled = false, disabled_reason = left(reason, 500)
  where subscription.id = before.id;
  perform bellwire.note_webhook_change(before, 'disabled', jsonb_build_object('reason', left(reason, 500)));
end
$$;

comment on function bellwire.disable_webhook_subscription(bigint, text) is 'Disables a subscription, with a reason.';

revoke all on function bellwire.disable_webhook_subscription(bigint, text) from public;
grant execute on function bellwire.disable_webhook_subscription(bigint, text) to bellwire_admin;
