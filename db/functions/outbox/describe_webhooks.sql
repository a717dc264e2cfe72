-- Subscriptions as they are shown, without secrets. It does not ask who is asking: its callers have.
-- Called by: api functions, as bellwire_definer.
-- Errors: none.
create or replace function bellwire.describe_webhooks(ids bigint[])
returns setof bellwire.webhook_details
language plpgsql
stable
set search_path = ''
as $$
begin
  return query
    select
      subscription.id, subscription.workspace_id, subscription.url, subscription.name, subscription.event_types,
      case
        when not subscription.is_enabled then 'off'
        when subscription.consecutive_failures > 0 then 'stalled'
        else 'delivering'
      end,
      subscription.is_enabled, subscription.disabled_reason, subscription.paused_until, subscription.consecutive_failures,
      (select max(secret.created_at) from bellwire.webhook_secrets as secret where secret.subscription_id = subscription.id),
      (select max(secret.expires_at)
       from bellwire.webhook_secrets as secret
       where secret.subscription_id = subscription.id and secret.expires_at > clock_timestamp()),
      subscription.created_by, person.name, person.avatar_url, subscription.created_at
    from bellwire.webhook_subscriptions as subscription
    left join bellwire.users as person on person.id = subscription.created_by
    where subscription.id = any (ids)
    order by subscription.id;
end
$$;

comment on function bellwire.describe_webhooks(bigint[]) is 'Webhook subscriptions with their state.';

revoke all on function bellwire.describe_webhooks(bigint[]) from public;
