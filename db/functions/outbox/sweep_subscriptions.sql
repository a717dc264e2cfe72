-- Trigger function: the deliveries of a deleted subscription go with it.
-- Called by: trigger _100_sweep on bellwire.webhook_subscriptions, after each delete statement.
-- Errors: none.
create or replace function bellwire.sweep_subscriptions()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  delete from bellwire.webhook_deliveries as gone using removed where gone.subscription_id = removed.id;
  return null;
end
$$;

comment on function bellwire.sweep_subscriptions() is 'Deletes the deliveries of deleted subscriptions.';

revoke all on function bellwire.sweep_subscriptions() from public;
grant execute on function bellwire.sweep_subscriptions() to bellwire_owner;
