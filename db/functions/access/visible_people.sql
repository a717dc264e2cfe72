-- Names and pictures for a page of rows: of those ids, the people who share a workspace with the caller.
-- Called by: api functions that list, once per page; as authenticated.
-- Errors: none; a stranger's id gives no row.
create or replace function bellwire.visible_people(ids bigint[])
returns table (id bigint, name text, email text, avatar_url text)
language sql
stable
security definer
set search_path = ''
rows 20
as $$
  select person.id, person.name, person.email, person.avatar_url
  from bellwire.users as person
  where person.id = any (ids)
    and (
      person.id = bellwire.current_user_id()
      or exists (
        select
        from bellwire.memberships as theirs
        join bellwire.resources as root on root.id = theirs.scope_id and root.parent_id is null
        where theirs.user_id = person.id
          and root.workspace_id in (select bellwire.my_workspaces())
      )
    )
$$;

comment on function bellwire.visible_people(bigint[]) is
  'Of the given ids, the people who share a workspace with the caller.';

revoke all on function bellwire.visible_people(bigint[]) from public;
grant execute on function bellwire.visible_people(bigint[]) to authenticated;
