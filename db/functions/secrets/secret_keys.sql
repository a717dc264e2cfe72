-- By which keys secrets are sealed: whether an old one can be taken out of SECRETS_KEY. Of the secrets themselves nothing.
-- Called by: bellwire_admin.
-- Errors: none.
create or replace function bellwire.secret_keys()
returns table (what text, key_id text, secrets bigint)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return query
    select stored.what, substring(stored.secret from '^sealed\.1\.([0-9a-f]{8})\.') as of_key, count(*)
    from (
      select 'second factors', factor.secret from identity.second_factors as factor
      union all
      select 'webhooks', signing.secret from bellwire.webhook_secrets as signing
    ) as stored (what, secret)
    group by stored.what, of_key
    order by stored.what, of_key;
end
$$;

comment on function bellwire.secret_keys() is
  'How many secrets are sealed by which key of SECRETS_KEY; null: stored as they are.';

revoke all on function bellwire.secret_keys() from public;
grant execute on function bellwire.secret_keys() to bellwire_admin;
