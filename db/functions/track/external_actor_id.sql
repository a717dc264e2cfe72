-- Who is acting, for an application that knows its own keys only: the claim sub where it is not a number (PostgREST and
-- the like with uuids), or else the claim external_id, is the key of a person track_users() mirrored.
--
--   select set_config('request.jwt.claims', '{"external_id": "4711"}', true);  -- for this transaction; needs no right
--
-- Called by: generated functions, as bellwire_definer, where current_user_id() is null.
-- Errors: none; claims that are no JSON are nobody.
create or replace function bellwire.external_actor_id()
returns bigint
language plpgsql
stable
set search_path = ''
as $$
declare
  claims constant jsonb := current_setting('request.jwt.claims', true);
begin
  return bellwire.user_id(coalesce(claims ->> 'external_id', claims ->> 'sub'));
exception when invalid_text_representation then
  return null;
end
$$;

comment on function bellwire.external_actor_id() is 'The id of the acting person, by the application''s own key; null for nobody.';

revoke all on function bellwire.external_actor_id() from public;
