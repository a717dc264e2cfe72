-- The SQL expression that turns a changed row into an activity draft, or null where the entry does not apply; for one
-- entry of track()'s actions. It may use new and old (the row), self and above (the registry's rows of it and its parent).
-- An entry: on (insert, update, delete), action, of (columns that must have changed), when (SQL over new and old),
-- resource (self or parent), metadata (key -> SQL over new and old), names (SQL giving bigint[]), record (false: only
-- the people it names are told), actor (SQL giving who it was, where neither claims nor track()'s actor say so).
-- Called by: draft_list().
-- Errors: 22023 for an entry that makes no sense.
create or replace function bellwire.action_draft(
  table_name regclass,
  entry jsonb,
  type text,
  parent_type text,
  title text,
  mentions text
)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  operation constant text := entry ->> 'on';
  row_alias constant text := case operation when 'delete' then 'old' else 'new' end;
  on_parent constant boolean := coalesce(entry ->> 'resource', 'self') = 'parent';
  subject constant text := case when on_parent then 'above' else 'self' end;
  unknown text;
  conditions text[] := array[subject || '.id is not null'];
  pairs text[];
  named text := 'null';
begin
  if jsonb_typeof(entry) is distinct from 'object' then
    raise exception 'an action entry is an object, not %', entry
      using errcode = '22023', hint = 'For example {"on": "insert", "action": "ticket.open"}.';
  end if;
  select string_agg(key, ', ') into unknown
  from jsonb_object_keys(entry) as key
  where key not in ('on', 'action', 'of', 'when', 'resource', 'metadata', 'names', 'record', 'actor');
  if unknown is not null then
    raise exception 'an action entry has no field %', unknown
      using errcode = '22023', hint = 'Fields: on, action, of, when, resource, metadata, names, record, actor.';
  end if;
  if operation is null or operation not in ('insert', 'update', 'delete') then
    raise exception 'an action entry needs "on": insert, update or delete, not %', coalesce(operation, 'nothing')
      using errcode = '22023', hint = 'One entry per operation; write two entries for two operations.';
  end if;
  if not exists (select from bellwire.action_rules as rule where rule.action = entry ->> 'action') then
    raise exception 'there is no action %', coalesce(entry ->> 'action', 'null')
      using errcode = '22023', hint = 'Actions are rows of bellwire.action_rules; insert yours there first.';
  end if;
  if on_parent and parent_type is null or not on_parent and type is null then
    raise exception 'action % is recorded on %, which this table does not have', entry ->> 'action',
      case when on_parent then 'the parent' else 'the row itself' end
      using errcode = '22023', hint = 'Pass type for the row itself, parent for its parent.';
  end if;
  select string_agg(columns.name, ', ') into unknown
  from jsonb_array_elements_text(coalesce(entry -> 'of', '[]')) as columns(name)
  where not exists (
    select from pg_catalog.pg_attribute as attribute
    where attribute.attrelid = table_name and attribute.attname = columns.name and attribute.attnum > 0
      and not attribute.attisdropped
      and attribute.attgenerated <> 'v'
  );
  if unknown is not null then
    raise exception 'table % has no column %', table_name, unknown
      using errcode = '22023',
        hint = 'Names in "of" are written as they are stored, without quotes; triggers do not see virtual generated columns.';
  end if;

  if operation = 'update' and entry ? 'of' then
    conditions := conditions || (
      select '(' || string_agg(format('new.%1$I is distinct from old.%1$I', columns.name), ' or ') || ')'
      from jsonb_array_elements_text(entry -> 'of') as columns(name));
  end if;
  if entry ? 'when' then
    conditions := conditions || format('(%s)', entry ->> 'when');
  end if;

  if entry ? 'metadata' then
    select array_agg(format('%L, %s', pair.key, pair.value) order by pair.key)
    into pairs
    from jsonb_each_text(entry -> 'metadata') as pair;
  else
    pairs := case when title is not null then array[format('''title'', %s.bellwire_title', row_alias)] else '{}' end;
    if operation = 'update' then
      pairs := pairs || (
        select array_agg(format('%L, new.%I, %L, old.%I', columns.name, columns.name, 'previous_' || columns.name, columns.name))
        from jsonb_array_elements_text(entry -> 'of') as columns(name));
    end if;
  end if;

  if entry ? 'names' then
    named := entry ->> 'names';
  elsif mentions is not null and operation = 'insert' then
    named := format('bellwire.mentioned_ids(new.%I, null)', mentions);
  elsif mentions is not null and operation = 'update' and entry -> 'of' ? mentions then
    named := format('bellwire.mentioned_ids(new.%1$I, old.%1$I)', mentions);
  end if;

  return format(
    E'case when %1$s then\n      row(%2$L, %7$s, %3$s.workspace_id, %3$s.scope_id, %3$s.id,\n'
    '        jsonb_build_object(%4$s), %5$s, %6$s)::bellwire.activity_draft end',
    array_to_string(conditions, ' and '),
    entry ->> 'action',
    subject,
    array_to_string(pairs, ', '),
    named,
    case when (entry ->> 'record')::boolean is false then 'false' else 'true' end,
    coalesce('coalesce(bellwire_actor_id, (' || (entry ->> 'actor') || ')::bigint)', 'bellwire_actor_id'));
end
$$;

comment on function bellwire.action_draft(regclass, jsonb, text, text, text, text) is
  'SQL expression for one action of a tracked table.';

revoke all on function bellwire.action_draft(regclass, jsonb, text, text, text, text) from public;
grant execute on function bellwire.action_draft(regclass, jsonb, text, text, text, text) to bellwire_admin;
