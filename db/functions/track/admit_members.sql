-- Lets in the members who were waiting for these scopes to be registered.
-- Called by: register_resources(), for scopes only.
-- Errors: none.
create or replace function bellwire.admit_members(of_type text, refs text[])
returns void
language sql
set search_path = ''
as $$
  with admitted as (
    delete from bellwire.waiting_members as waiting
    using bellwire.resources as scope
    where waiting.scope_type = of_type
      and waiting.scope_ref = any (refs)
      and scope.type = of_type
      and scope.ref = waiting.scope_ref
    returning scope.id as scope_id, waiting.user_id, waiting.role, scope.type, scope.ref
  )
  insert into bellwire.memberships (scope_id, user_id, role, scope_type, scope_ref)
  select admitted.scope_id, admitted.user_id, admitted.role, admitted.type, admitted.ref from admitted
  on conflict (scope_id, user_id) do update set role = excluded.role
$$;

comment on function bellwire.admit_members(text, text[]) is 'Turns waiting members of these scopes into memberships.';

revoke all on function bellwire.admit_members(text, text[]) from public;
