-- Two random UUIDs are 244 random bits; the base64 of their 32 bytes is the key.
-- Called by: create_webhook_subscription(), rotate_webhook_secret(), as bellwire_definer.
-- Errors: none.
create or replace function bellwire.random_webhook_secret()
returns text
language sql
volatile
set search_path = ''
as $$
  select 'whsec_' || encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'base64')
$$;

comment on function bellwire.random_webhook_secret() is 'A new signing secret.';

revoke all on function bellwire.random_webhook_secret() from public;
