-- Writes a subscription with its first secret, and the record of it.
-- Called by: create_webhook_subscription(), api.create_webhook(), as bellwire_definer.
-- Errors: those of check_webhook(); P0002 for an unknown workspace; 54000 above the limit.
-- Source: reference 000, section 2b (at most 50 per instance).
create or replace function bellwire.add_webhook_subscription(
  url text,
  workspace_id bigint,
  event_types text[],
  name text,
  seal_id uuid,
  stored_secret text
)
returns bigint
language plpgsql
set search_path = ''
as $$
#variable_conflict use_variable
declare
  subscriptions_lock constant integer := 7317; -- first half of the advisory key
  max_subscriptions constant integer := (
    select setting.value from bellwire.settings as setting where setting.name = 'webhook_subscription_limit');
  subscription bellwire.webhook_subscriptions;
begin
  perform bellwire.check_webhook(url, event_types, name);
  if workspace_id is not null
    and not exists (select from bellwire.workspaces as known where known.id = add_webhook_subscription.workspace_id)
  then
    raise exception 'there is no workspace %', workspace_id
      using errcode = 'P0002', hint = 'select id, name from bellwire.workspaces';
  end if;
  -- Two at once would both count one too few.
  perform pg_advisory_xact_lock(subscriptions_lock, 0);
  if (select count(*) from bellwire.webhook_subscriptions) >= max_subscriptions then
    raise exception 'there are % receivers already', max_subscriptions
      using errcode = '54000', hint = 'Delete one that is not used any more, or raise the setting webhook_subscription_limit.';
  end if;
  insert into bellwire.webhook_subscriptions as added (workspace_id, url, event_types, name, created_by)
  values (workspace_id, url, event_types, name, bellwire.current_user_id())
  returning added.* into subscription;
  insert into bellwire.webhook_secrets (subscription_id, seal_id, secret)
  values (subscription.id, seal_id, stored_secret);
  perform bellwire.note_webhook_change(subscription, 'created', jsonb_build_object(
    'host', bellwire.webhook_host(url), 'event_types', event_types, 'name', name));
  perform bellwire.wake('bellwire_secrets');
  return subscription.id;
end
$$;

comment on function bellwire.add_webhook_subscription(text, bigint, text[], text, uuid, text) is
  'Adds a webhook subscription with its secret; returns its id.';

revoke all on function bellwire.add_webhook_subscription(text, bigint, text[], text, uuid, text) from public;
