-- Rotation: a new secret signs from now on, and the one before it for some hours more, so that the receiver can change in
-- its own time. What was expiring already goes at once: there are never more than two.
-- Called by: rotate_webhook_secret(), api.rotate_webhook_secret(), as bellwire_definer.
-- Errors: P0002 for an unknown subscription.
-- Returns: until when the old one signs; null: it does not.
-- Source: DESIGN, "Webhook outbox".
create or replace function bellwire.write_webhook_secret(
  subscription_id bigint,
  keeps_old boolean,
  seal_id uuid,
  stored_secret text
)
returns timestamptz
language plpgsql
set search_path = ''
as $$
declare
  subscription bellwire.webhook_subscriptions;
  old_expires_at timestamptz;
begin
  subscription := bellwire.lock_webhook_subscription(subscription_id);
  delete from bellwire.webhook_secrets as secret
  where secret.subscription_id = subscription.id and (secret.expires_at is not null or not keeps_old);
  if keeps_old then
    old_expires_at := clock_timestamp() + make_interval(
      hours => (select value::integer from bellwire.settings where name = 'webhook_rotation_hours'));
    update bellwire.webhook_secrets as secret
    set expires_at = old_expires_at
    where secret.subscription_id = subscription.id;
  end if;
  insert into bellwire.webhook_secrets (subscription_id, seal_id, secret)
  values (subscription.id, write_webhook_secret.seal_id, stored_secret);
  update bellwire.webhook_subscriptions as rotated
  set changed_at = clock_timestamp()
  where rotated.id = subscription.id;
  perform bellwire.note_webhook_change(subscription, 'rotated', jsonb_build_object(
    'keeps_old', keeps_old, 'old_expires_at', old_expires_at));
  perform bellwire.wake('bellwire_secrets');
  return old_expires_at;
end
$$;

comment on function bellwire.write_webhook_secret(bigint, boolean, uuid, text) is
  'Writes a new secret of a subscription; the old one expires later or at once.';

revoke all on function bellwire.write_webhook_secret(bigint, boolean, uuid, text) from public;
