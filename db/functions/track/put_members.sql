-- Takes over memberships from an application's table. Where a person is named twice the stronger role counts. Who belongs to a
-- scope that is not registered yet waits for it. An unknown role or person is nobody's membership and is noted in
-- rule_failures; a row without a person is passed over.
-- Called by: the functions track_members() generates; generate_members(), for the rows that are there.
-- Errors: none of its own.
create or replace function bellwire.put_members(scope_type text, entries bellwire.member_entry[])
returns void
language plpgsql
security definer
set search_path = ''
as $$
declare
  refused_ids bigint[];
  refused_rows text;
begin
  select array_agg(entry.user_id), string_agg(format('person %s as %s of %s', entry.user_id, entry.role, entry.scope_ref), '; ')
  into refused_ids, refused_rows
  from unnest(entries) as entry
  where entry.user_id is not null
    and (
      bellwire.role_rank(entry.role) is null
      or not exists (select from bellwire.users as person where person.id = entry.user_id));
  if refused_ids is not null then
    perform bellwire.fail_rule(
      left('track_members ' || scope_type, 63), refused_ids, '22023', 'unknown role or person: ' || refused_rows, null);
  end if;

  with given as (
    select distinct on (entry.scope_ref, entry.user_id) entry.scope_ref, entry.user_id, entry.role, scope.id as scope_id
    from unnest(entries) as entry
    join bellwire.users as person on person.id = entry.user_id
    left join bellwire.resources as scope on scope.type = scope_type and scope.ref = entry.scope_ref
    where bellwire.role_rank(entry.role) is not null
      and char_length(entry.scope_ref) between 1 and 255
    order by entry.scope_ref, entry.user_id, bellwire.role_rank(entry.role) desc
  ),
  waiting as (
    insert into bellwire.waiting_members (scope_type, scope_ref, user_id, role)
    select put_members.scope_type, given.scope_ref, given.user_id, given.role from given where given.scope_id is null
    on conflict on constraint waiting_members_pkey do update set role = excluded.role
  )
  insert into bellwire.memberships (scope_id, user_id, role, scope_type, scope_ref)
  select given.scope_id, given.user_id, given.role, put_members.scope_type, given.scope_ref
  from given
  where given.scope_id is not null
  on conflict (scope_id, user_id) do update set role = excluded.role;
end
$$;

comment on function bellwire.put_members(text, bellwire.member_entry[]) is 'Inserts or updates memberships.';

revoke all on function bellwire.put_members(text, bellwire.member_entry[]) from public;
grant execute on function bellwire.put_members(text, bellwire.member_entry[]) to bellwire_admin;
