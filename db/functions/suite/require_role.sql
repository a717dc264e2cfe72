-- The check at the head of every api function that changes members or squads: what the caller does not see is not
-- there, what they see but may not change is forbidden.
-- Called by: api functions, as bellwire_definer.
-- Errors: P0002, 42501.
create or replace function suite.require_role(scope_type text, ref bigint, at_least text)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  found_scope_id bigint;
begin
  select scope.id into found_scope_id
  from bellwire.resources as scope
  where scope.type = scope_type
    and scope.ref = require_role.ref::text
    and scope.deleted_at is null
    and scope.id in (select bellwire.my_scopes());
  if found_scope_id is null then
    raise exception 'there is no such %', scope_type
      using errcode = 'P0002', hint = 'It was deleted, or you do not belong to it.';
  end if;
  if found_scope_id not in (select bellwire.my_scopes(at_least)) then
    raise exception 'this needs the role % or a higher one', at_least
      using errcode = '42501', hint = 'Ask a lead or an admin for it.';
  end if;
end
$$;

comment on function suite.require_role(text, bigint, text) is
  'Raises unless the caller has at least this role in that workspace or squad.';

revoke all on function suite.require_role(text, bigint, text) from public;
