-- By which keys secrets are sealed: whether an old one can be taken out of SECRETS_KEY. Of the secrets themselves nothing.
-- Called by: bellwire_admin.
-- Errors: none.
create or replace function bellwire.webhook_secret_keys()
returns table (key_id text, secrets bigint)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return query
    select substring(stored.secret from '^sealed\.1\.([0-9a-f]{8})\.'), count(*)
    from bellwire.webhook_secrets as stored
    group by 1
    order by 1;
end
$$;

comment on function bellwire.webhook_secret_keys() is
  'How many webhook secrets are sealed by which key; null: stored as they are.';

revoke all on function bellwire.webhook_secret_keys() from public;
grant execute on function bellwire.webhook_secret_keys() to bellwire_admin;
