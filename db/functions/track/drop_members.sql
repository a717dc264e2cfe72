-- Ends memberships that an application's table no longer has, those that wait for their scope included.
-- Called by: the functions track_members() generates.
-- Errors: none.
create or replace function bellwire.drop_members(scope_type text, entries bellwire.member_entry[])
returns void
language sql
security definer
set search_path = ''
as $$
  delete from bellwire.waiting_members as waiting
  using unnest(entries) as entry
  where waiting.scope_type = drop_members.scope_type
    and waiting.scope_ref = entry.scope_ref
    and waiting.user_id = entry.user_id;
  delete from bellwire.memberships as membership
  using unnest(entries) as entry
  join bellwire.resources as scope on scope.type = drop_members.scope_type and scope.ref = entry.scope_ref
  where membership.scope_id = scope.id and membership.user_id = entry.user_id
$$;

comment on function bellwire.drop_members(text, bellwire.member_entry[]) is 'Deletes memberships.';

revoke all on function bellwire.drop_members(text, bellwire.member_entry[]) from public;
grant execute on function bellwire.drop_members(text, bellwire.member_entry[]) to bellwire_admin;
