-- The address of a person who has none of their own: nobody else's, and one that no mail reaches (RFC 6761).
-- Called by: put_users().
-- Errors: none.
create or replace function bellwire.no_address(external_id text)
returns text
language sql
immutable
as $$
  select 'user-' || pg_catalog.md5(external_id) || '@no-address.invalid'
$$;

comment on function bellwire.no_address(text) is 'Stands for the e-mail address of a person who has none.';

revoke all on function bellwire.no_address(text) from public;
