-- The secrets that are plain, or sealed by another key than the current one, in the order of their ids.
-- Called by: bellwire_worker, which seals them.
-- Errors: none.
create or replace function bellwire.unsealed_webhook_secrets(current_key_id text, after_id bigint, max_count integer)
returns table (id bigint, subscription_id bigint, seal_id uuid, secret text)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return query
    select stored.id, stored.subscription_id, stored.seal_id, stored.secret
    from bellwire.webhook_secrets as stored
    where stored.id > after_id and not starts_with(stored.secret, 'sealed.1.' || current_key_id || '.')
    order by stored.id
    limit max_count;
end
$$;

comment on function bellwire.unsealed_webhook_secrets(text, bigint, integer) is
  'Webhook secrets that are not sealed by the current key.';

revoke all on function bellwire.unsealed_webhook_secrets(text, bigint, integer) from public;
grant execute on function bellwire.unsealed_webhook_secrets(text, bigint, integer) to bellwire_worker;
