-- The id of a person of the application, by the key they have there. For the expressions of track() and track_members():
-- owner => 'bellwire.user_id(assignee_id::text)'.
-- Called by: generated functions, as bellwire_definer; bellwire_admin.
-- Errors: none; null for nobody.
create or replace function bellwire.user_id(external_id text)
returns bigint
language sql
stable
as $$
  select person.id from bellwire.users as person where person.external_id operator(pg_catalog.=) user_id.external_id
$$;

comment on function bellwire.user_id(text) is 'The id of the person with this external_id.';

revoke all on function bellwire.user_id(text) from public;
grant execute on function bellwire.user_id(text) to bellwire_admin;
