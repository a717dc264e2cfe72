-- Takes over people from an application's table. The application may allow what bellwire.users cannot hold, and nobody is
-- left out for it: a name is cut, an address that is missing, malformed or somebody else's becomes one that no mail
-- reaches, and that is noted in rule_failures where it was somebody else's. Nobody is joined with an account by its address:
-- who may choose an address in the application must not become whoever has it here. A person who was deactivated gives
-- their address up, so that it can be registered again.
-- Called by: the functions track_users() generates; generate_users(), for the rows that are there.
-- Errors: those of the insert.
create or replace function bellwire.put_users(entries bellwire.user_entry[])
returns void
language plpgsql
security definer
set search_path = ''
as $$
declare
  refused_ids bigint[];
  refused_rows text;
begin
  -- First the addresses that change hands, so that two people can swap theirs.
  update bellwire.users as person
  set email = bellwire.no_address(person.external_id)
  from unnest(entries) as entry
  where person.external_id is not null
    and person.email is distinct from bellwire.no_address(person.external_id)
    and (
      person.external_id = entry.external_id and person.email is distinct from entry.email
      or person.external_id <> entry.external_id and lower(person.email) = lower(entry.email)
        and person.deactivated_at is not null
        and not exists (select from unnest(entries) as other where other.external_id = person.external_id));

  with given as (
    select distinct on (entry.external_id)
      entry.external_id,
      left(coalesce(nullif(trim(entry.name), ''), entry.external_id), 255) as name,
      case when entry.email like '%_@_%' and char_length(entry.email) <= 320 then entry.email end as email,
      case when char_length(entry.avatar_url) <= 2000 then entry.avatar_url end as avatar_url,
      coalesce(entry.is_active, true) as is_active
    from unnest(entries) as entry
    where char_length(entry.external_id) between 1 and 255
  ),
  judged as (
    select
      given.*,
      row_number() over (
        partition by lower(given.email)
        order by given.is_active desc, holder.external_id is not distinct from given.external_id desc, given.external_id
      ) = 1
        and (holder.id is null or holder.external_id is not distinct from given.external_id) as is_free
    from given
    left join bellwire.users as holder on lower(holder.email) = lower(given.email)
  ),
  written as (
    insert into bellwire.users as person (external_id, name, email, avatar_url, deactivated_at)
    select
      external_id, name, case when is_free and email is not null then email else bellwire.no_address(external_id) end,
      avatar_url, case when not is_active then now() end
    from judged
    on conflict (external_id) do update
    set name = excluded.name,
        email = excluded.email,
        avatar_url = excluded.avatar_url,
        deactivated_at = case when excluded.deactivated_at is not null then coalesce(person.deactivated_at, now()) end
    returning person.id, person.external_id
  )
  select array_agg(written.id), string_agg(format('%s of %s', judged.email, judged.external_id), '; ' order by judged.external_id)
  into refused_ids, refused_rows
  from judged
  join written on written.external_id = judged.external_id
  where judged.email is not null and not judged.is_free;
  if refused_ids is not null then
    perform bellwire.fail_rule(
      'track_users', refused_ids, '23505', 'an e-mail address is somebody else''s: ' || refused_rows, null);
  end if;
end
$$;

comment on function bellwire.put_users(bellwire.user_entry[]) is 'Inserts or updates people by their external_id.';

revoke all on function bellwire.put_users(bellwire.user_entry[]) from public;
grant execute on function bellwire.put_users(bellwire.user_entry[]) to bellwire_admin;
