-- Takes over memberships from an application's table. A scope that is not in the registry is passed over.
-- Called by: the functions track_members() generates.
-- Errors: 23514 for an unknown role, 23503 for an unknown user.
create or replace function bellwire.put_members(scope_type text, entries bellwire.member_entry[])
returns void
language sql
security definer
set search_path = ''
as $$
  insert into bellwire.memberships (scope_id, user_id, role, scope_type, scope_ref)
  select scope.id, entry.user_id, entry.role, scope.type, scope.ref
  from unnest(entries) as entry
  join bellwire.resources as scope on scope.type = scope_type and scope.ref = entry.scope_ref
  on conflict (scope_id, user_id) do update set role = excluded.role
$$;

comment on function bellwire.put_members(text, bellwire.member_entry[]) is 'Inserts or updates memberships.';

revoke all on function bellwire.put_members(text, bellwire.member_entry[]) from public;
grant execute on function bellwire.put_members(text, bellwire.member_entry[]) to bellwire_admin;
