-- Puts a sealed text in the place of what it was made from; a secret that is another one by now stays.
-- Called by: bellwire_worker.
-- Errors: none; a text that is not sealed replaces nothing.
-- Returns: whether it was replaced.
create or replace function bellwire.seal_webhook_secret(id bigint, old text, new text)
returns boolean
language plpgsql
security definer
set search_path = ''
as $$
begin
  update bellwire.webhook_secrets as stored
  set secret = seal_webhook_secret.new
  where stored.id = seal_webhook_secret.id
    and stored.secret = seal_webhook_secret.old
    and starts_with(seal_webhook_secret.new, 'sealed.');
  return found;
end
$$;

comment on function bellwire.seal_webhook_secret(bigint, text, text) is 'Replaces a webhook secret by its sealed text.';

revoke all on function bellwire.seal_webhook_secret(bigint, text, text) from public;
grant execute on function bellwire.seal_webhook_secret(bigint, text, text) to bellwire_worker;
