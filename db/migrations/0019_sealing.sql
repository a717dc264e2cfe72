-- Secrets of second factors are sealed anew as those of webhooks are, and a start names the administrators before it.

-- Made anew by their files, with another signature or result; secret_keys() takes the place of webhook_secret_keys().
set local role bellwire_definer;
drop function if exists bellwire.webhook_secret_keys();
drop function if exists bellwire.unsealed_webhook_secrets(text, integer);
drop function if exists identity.sync_admin(text, text, text);
reset role;
do $$
begin
  if to_regclass('bellwire.applied_files') is not null then
    delete from bellwire.applied_files where path = 'functions/outbox/webhook_secret_keys.sql';
  end if;
end
$$;

set local role bellwire_owner;

-- "sealed.1." and the id of the key.
create index second_factors_key on identity.second_factors ((left(secret, 17) collate "C"), user_id);
comment on index identity.second_factors_key is
  'Serves unsealed_second_factors(): those of another key, which usually are none, without reading all.';

reset role;
