-- Names and pictures for a page of rows: of those ids, the people who share a workspace with the caller.
-- Called by: api functions that list, once per page; as authenticated.
-- Errors: none; a stranger's id gives no row.
create or replace function bellwire.visible_people(ids bigint[])
returns table (id bigint, name text, email text, avatar_url text)
language plpgsql
stable
security definer
set search_path = ''
rows 20
as $$
#variable_conflict use_column
declare
  caller_id constant bigint := bellwire.current_user_id();
  workspace_ids constant bigint[] := array(select bellwire.my_workspaces());
begin
  -- plpgsql, because its plan is kept: of a page that took 620 µs, planning this took 500.
  return query
    select person.id, person.name, person.email, person.avatar_url
    from bellwire.users as person
    where person.id = any (ids)
      and (
        person.id = caller_id
        or exists (
          select
          from bellwire.memberships as theirs
          join bellwire.resources as root on root.id = theirs.scope_id and root.parent_id is null
          where theirs.user_id = person.id and root.workspace_id = any (workspace_ids)
        )
      );
end
$$;

comment on function bellwire.visible_people(bigint[]) is
  'Of the given ids, the people who share a workspace with the caller.';

revoke all on function bellwire.visible_people(bigint[]) from public;
grant execute on function bellwire.visible_people(bigint[]) to authenticated;
