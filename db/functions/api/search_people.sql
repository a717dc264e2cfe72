-- People whose name or e-mail address begins like this, in whatever case, among those who share a workspace with the
-- caller: at most twenty, by name. Nobody else is found, whatever is asked for.
-- Each prefix is a range of an index, read in its order until there are enough; max_character is behind every character
-- a name can have. As one condition, everybody who begins like this would be read before the first twenty are known.
-- Planned anew each time: the short way is by the prefix or by the members, whichever are fewer, and a search is rare.
-- Called by: authenticated.
-- Errors: none.
-- Source: reference 001, "Rate limiters" (user search).
create or replace function api.search_people(prefix text)
returns table (id bigint, name text, email text, avatar_url text)
language plpgsql
stable
security definer
set search_path = ''
set plan_cache_mode = force_custom_plan
rows 20
as $$
#variable_conflict use_column
declare
  max_people constant integer := 20;
  max_character constant text := chr(1114111);
  lowest constant text := lower(prefix);
  scope_ids constant bigint[] := array(
    select root.id
    from bellwire.resources as root
    where root.workspace_id in (select bellwire.my_workspaces()) and root.parent_id is null);
begin
  return query
    with by_name as (
      select person.id
      from bellwire.users as person
      where lower(person.name) collate "C" between lowest and lowest || max_character
        and person.deactivated_at is null
        and exists (
          select from bellwire.memberships as theirs where theirs.user_id = person.id and theirs.scope_id = any (scope_ids)
        )
      order by lower(person.name) collate "C"
      limit max_people
    ),
    by_email as (
      select person.id
      from bellwire.users as person
      where lower(person.email) collate "C" between lowest and lowest || max_character
        and person.deactivated_at is null
        and exists (
          select from bellwire.memberships as theirs where theirs.user_id = person.id and theirs.scope_id = any (scope_ids)
        )
      order by lower(person.email) collate "C"
      limit max_people
    )
    select person.id, person.name, person.email, person.avatar_url
    from bellwire.users as person
    where person.id in (select by_name.id from by_name union select by_email.id from by_email)
    order by lower(person.name) collate "C", person.id
    limit max_people;
end
$$;

comment on function api.search_people(text) is
  'At most twenty people of the caller''s workspaces whose name or e-mail address begins like this.';

revoke all on function api.search_people(text) from public;
grant execute on function api.search_people(text) to authenticated;
