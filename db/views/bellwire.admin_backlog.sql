-- What waits, per outbox, the webhooks per receiver; from worker_backlog(), where that says enough. Empty: nothing waits.
create or replace view bellwire.admin_backlog with (security_invoker = true) as
select
  backlog.what,
  null::bigint as subscription_id,
  null::text as detail,
  backlog.waiting,
  backlog.oldest_at,
  date_trunc('second', now() - backlog.oldest_at) as oldest_age
from bellwire.worker_backlog() as backlog
where backlog.what <> 'webhooks_pending' and backlog.waiting > 0
union all
select
  'webhooks_pending',
  subscription.id,
  subscription.url || case
    when not subscription.is_enabled then ' (disabled: ' || coalesce(subscription.disabled_reason, 'by hand') || ')'
    when subscription.paused_until > now() then ' (paused until ' || date_trunc('second', subscription.paused_until) || ')'
    else ''
  end,
  count(*),
  min(delivery.created_at),
  date_trunc('second', now() - min(delivery.created_at))
from bellwire.webhook_deliveries as delivery
join bellwire.webhook_subscriptions as subscription on subscription.id = delivery.subscription_id
where delivery.state = 'pending' and delivery.sequence is not null
group by subscription.id;

comment on view bellwire.admin_backlog is 'What waits for the worker, and since when; webhooks per receiver, disabled ones too.';
comment on column bellwire.admin_backlog.what is
  'webhooks_unsequenced, webhooks_pending, emails or fan_out.';
comment on column bellwire.admin_backlog.subscription_id is 'The receiver, for webhooks_pending.';
comment on column bellwire.admin_backlog.detail is 'Its URL, and why nothing is sent to it at the moment.';
comment on column bellwire.admin_backlog.waiting is 'How many. Unit: rows.';
comment on column bellwire.admin_backlog.oldest_at is 'Since when the oldest has been there.';
comment on column bellwire.admin_backlog.oldest_age is 'How long that is.';

revoke all on bellwire.admin_backlog from public;
grant select on bellwire.admin_backlog to bellwire_admin;
