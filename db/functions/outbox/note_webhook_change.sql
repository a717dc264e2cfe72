-- Records what was done to a subscription, by whom, in the transaction that does it.
-- Called by: the functions of administration, as bellwire_definer.
-- Errors: none of its own.
create or replace function bellwire.note_webhook_change(
  subscription bellwire.webhook_subscriptions,
  what text,
  details jsonb default '{}'
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  max_bytes constant integer := 8192; -- as the table's check
begin
  insert into bellwire.webhook_changes (actor_id, subscription_id, workspace_id, what, details)
  values (
    bellwire.current_user_id(), subscription.id, subscription.workspace_id, what,
    case when octet_length(details::text) > max_bytes then '{"truncated": true}' else jsonb_strip_nulls(details) end);
end
$$;

comment on function bellwire.note_webhook_change(bellwire.webhook_subscriptions, text, jsonb) is
  'Adds a row to the record of changes of webhook subscriptions.';

revoke all on function bellwire.note_webhook_change(bellwire.webhook_subscriptions, text, jsonb) from public;
