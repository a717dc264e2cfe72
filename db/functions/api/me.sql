-- The signed-in person and their badge.
-- Called by: authenticated.
-- Errors: none; no row for nobody.
create or replace function api.me()
returns table (id bigint, name text, email text, avatar_url text, is_admin boolean, unread_count bigint)
language plpgsql
stable
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
    select person.id, person.name, person.email, person.avatar_url, person.is_admin, bellwire.unread_of(person.id)
    from bellwire.users as person
    where person.id = bellwire.current_user_id() and person.deactivated_at is null;
end
$$;

comment on function api.me() is 'The caller.';

revoke all on function api.me() from public;
grant execute on function api.me() to authenticated;
