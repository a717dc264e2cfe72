-- What of an address may be kept and shown for long: path and query are often a secret.
-- Called by: note_webhook_change() callers, as bellwire_definer.
-- Errors: none.
create or replace function bellwire.webhook_host(url text)
returns text
language sql
immutable
set search_path = ''
as $$
  select substring(url from '^[^/]+//[^/?#]+')
$$;

comment on function bellwire.webhook_host(text) is 'Scheme and host of a URL.';

revoke all on function bellwire.webhook_host(text) from public;
