-- Adds a receiver. The secret is returned once and can never be read again; the worker seals it, where it has a key.
-- Called by: bellwire_admin.
-- Errors: those of add_webhook_subscription().
create or replace function bellwire.create_webhook_subscription(
  url text,
  workspace_id bigint default null,
  event_types text[] default null,
  name text default null
)
returns table (id bigint, secret text)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
begin
  secret := bellwire.random_webhook_secret();
  id := bellwire.add_webhook_subscription(url, workspace_id, event_types, name, gen_random_uuid(), secret);
  return next;
end
$$;

comment on function bellwire.create_webhook_subscription(text, bigint, text[], text) is
  'Adds a webhook receiver; returns its id and, once, its signing secret.';

revoke all on function bellwire.create_webhook_subscription(text, bigint, text[], text) from public;
grant execute on function bellwire.create_webhook_subscription(text, bigint, text[], text) to bellwire_admin;
