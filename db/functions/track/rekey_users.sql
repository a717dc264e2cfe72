-- Follows the keys of people that an update changed: the person stays the same, with all they watch. Old and new keys are
-- paired by their place; where somebody deactivated had the new key, theirs is set aside.
-- Called by: the functions track_users() generates, for every update.
-- Errors: none of its own.
create or replace function bellwire.rekey_users(old_keys text[], new_keys text[])
returns void
language plpgsql
security definer
set search_path = ''
as $$
declare
  ids bigint[];
  keys text[];
begin
  if old_keys is not distinct from new_keys or cardinality(old_keys) is distinct from cardinality(new_keys) then
    return;
  end if;
  select array_agg(person.id), array_agg(pair.new_key)
  into ids, keys
  from unnest(old_keys, new_keys) as pair(old_key, new_key)
  join bellwire.users as person on person.external_id = pair.old_key
  where pair.old_key <> pair.new_key and char_length(pair.new_key) between 1 and 255;
  update bellwire.users as holder
  set external_id = left(holder.external_id, 200) || ' (until ' || holder.id || ')',
      deactivated_at = coalesce(holder.deactivated_at, now())
  where holder.external_id = any (keys) and not (holder.id = any (ids));
  update bellwire.users as person set external_id = chr(1) || person.id where person.id = any (ids);
  update bellwire.users as person set external_id = pair.new_key
  from unnest(ids, keys) as pair(id, new_key)
  where person.id = pair.id;
end
$$;

comment on function bellwire.rekey_users(text[], text[]) is 'Gives people their new external_id.';

revoke all on function bellwire.rekey_users(text[], text[]) from public;
