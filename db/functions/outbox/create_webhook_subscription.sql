-- Adds a receiver. The secret is returned once and can never be read again.
-- Called by: bellwire_admin.
-- Errors: 22023 for a bad URL or a type that is not emitted; P0002 for an unknown workspace; 54000 above 50 receivers.
-- Source: reference 000, section 2b (at most 50 per instance).
create or replace function bellwire.create_webhook_subscription(
  url text,
  workspace_id bigint default null,
  event_types text[] default null
)
returns table (id bigint, secret text)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  max_subscriptions constant integer := 50;
  unknown text;
begin
  if url is null or url !~* '^https?://[^\s\\]+$' or char_length(url) > 2000 then
    raise exception 'a receiver is an http or https URL of at most 2000 characters'
      using errcode = '22023', hint = 'For example https://example.com/hooks.';
  end if;
  select string_agg(wanted.type, ', ') into unknown
  from unnest(event_types) as wanted(type)
  where not exists (select from bellwire.action_rules as rule where rule.action = wanted.type and rule.emits);
  if unknown is not null then
    raise exception 'no event has the type %', unknown
      using errcode = '22023', hint = 'select action from bellwire.action_rules where emits';
  end if;
  if workspace_id is not null
    and not exists (
      select from bellwire.workspaces as known where known.id = create_webhook_subscription.workspace_id)
  then
    raise exception 'there is no workspace %', workspace_id
      using errcode = 'P0002', hint = 'select id, name from bellwire.workspaces';
  end if;
  if (select count(*) from bellwire.webhook_subscriptions) >= max_subscriptions then
    raise exception 'there are % receivers already', max_subscriptions
      using errcode = '54000', hint = 'bellwire.delete_webhook_subscription(id) removes one that is not used any more.';
  end if;

  insert into bellwire.webhook_subscriptions as subscription (workspace_id, url, event_types, created_by)
  values (workspace_id, url, event_types, bellwire.current_user_id())
  returning subscription.id into id;
  -- Two random UUIDs are 244 random bits; the base64 of their 32 bytes is the key.
  secret := 'whsec_' || encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'base64');
  insert into bellwire.webhook_secrets (subscription_id, secret) values (id, secret);
  return next;
end
$$;

comment on function bellwire.create_webhook_subscription(text, bigint, text[]) is
  'Adds a webhook receiver; returns its id and, once, its signing secret.';

revoke all on function bellwire.create_webhook_subscription(text, bigint, text[]) from public;
grant execute on function bellwire.create_webhook_subscription(text, bigint, text[]) to bellwire_admin;
