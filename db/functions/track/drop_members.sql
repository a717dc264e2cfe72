-- Ends memberships that an application's table no longer has.
-- Called by: the functions track_members() generates.
-- Errors: none.
create or replace function bellwire.drop_members(scope_type text, entries bellwire.member_entry[])
returns void
language sql
security definer
set search_path = ''
as $$
  delete from bellwire.memberships as membership
  using unnest(entries) as entry
  join bellwire.resources as scope on scope.type = scope_type and scope.ref = entry.scope_ref
  where membership.scope_id = scope.id and membership.user_id = entry.user_id
$$;

comment on function bellwire.drop_members(text, bellwire.member_entry[]) is 'Deletes memberships.';

revoke all on function bellwire.drop_members(text, bellwire.member_entry[]) from public;
grant execute on function bellwire.drop_members(text, bellwire.member_entry[]) to bellwire_admin;
