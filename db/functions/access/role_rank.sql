-- Orders the roles of a membership, so that "at least a member" is one comparison.
-- Called by: my_scopes() and policies; any role.
-- Errors: none; an unknown role ranks null and so never suffices.
create or replace function bellwire.role_rank(role text)
returns integer
language sql
immutable
parallel safe
as $$
  select case role when 'owner' then 5 when 'admin' then 4 when 'lead' then 3 when 'member' then 2 when 'guest' then 1 end
$$;

comment on function bellwire.role_rank(text) is 'owner 5, admin 4, lead 3, member 2, guest 1.';

revoke all on function bellwire.role_rank(text) from public;
grant execute on function bellwire.role_rank(text) to authenticated, bellwire_admin;
