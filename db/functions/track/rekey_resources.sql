-- Follows keys that an update changed: a registry row keeps its id, and with it its watches and its history. Old and new
-- keys are paired by their place. In two steps, because two rows may have swapped their keys. Where the new key was that
-- of a deleted row, that row's history stays with it, under its old key and its id.
-- Called by: the functions track() generates, when a key has changed.
-- Errors: none of its own.
-- Returns: whether the keys could be paired. They cannot when a trigger of the partition a row moved to has dropped the
-- row: then what is gone is marked as deleted, and no activity is recorded.
create or replace function bellwire.rekey_resources(of_type text, old_refs text[], new_refs text[])
returns boolean
language plpgsql
security definer
set search_path = ''
as $$
declare
  ids bigint[];
  refs text[];
begin
  if cardinality(old_refs) is distinct from cardinality(new_refs) then
    update bellwire.resources as resource set deleted_at = now()
    where resource.type = of_type and resource.ref = any (old_refs) and not (resource.ref = any (coalesce(new_refs, '{}')));
    perform bellwire.fail_rule(
      left('track ' || of_type, 63), null, '01000', 'rows vanished in an update: its activity was not recorded', null);
    return false;
  end if;

  select array_agg(resource.id), array_agg(pair.new_ref)
  into ids, refs
  from (
    select distinct on (new_ref) old_ref, new_ref
    from unnest(old_refs, new_refs) as pair(old_ref, new_ref)
    where old_ref <> new_ref and char_length(new_ref) between 1 and 255
    order by new_ref
  ) as pair
  join bellwire.resources as resource on resource.type = of_type and resource.ref = pair.old_ref;

  update bellwire.resources as holder
  set ref = left(holder.ref, 200) || ' (until ' || holder.id || ')', deleted_at = coalesce(holder.deleted_at, now())
  where holder.type = of_type and holder.ref = any (refs) and not (holder.id = any (ids));
  -- A place to stand meanwhile; a key of an application hardly begins with this character.
  update bellwire.resources as resource set ref = chr(1) || resource.id where resource.id = any (ids);
  update bellwire.resources as resource set ref = pair.ref
  from unnest(ids, refs) as pair(id, ref)
  where resource.id = pair.id;
  if exists (select from bellwire.resource_types as known where known.type = of_type and known.is_scope) then
    -- Memberships repeat the key. The holder's change with it, or its members would be those of the scope that has its key now.
    update bellwire.memberships as membership set scope_ref = scope.ref
    from bellwire.resources as scope
    where membership.scope_type = of_type
      and membership.scope_ref = any (refs || old_refs)
      and scope.id = membership.scope_id
      and scope.ref <> membership.scope_ref;
  end if;
  return true;
end
$$;

comment on function bellwire.rekey_resources(text, text[], text[]) is
  'Gives registry rows their new keys; false when old and new ones cannot be paired.';

revoke all on function bellwire.rekey_resources(text, text[], text[]) from public;
