-- The keys of an event's data: those of its rule; else those that the tables which record the action put into its metadata,
-- as action_draft() does, and the id of the thing.
-- Called by: webhook_event_types(), as bellwire_definer.
-- Errors: none.
create or replace function bellwire.webhook_event_keys(rule bellwire.action_rules)
returns text[]
language plpgsql
stable
set search_path = ''
as $$
begin
  if rule.event_data is not null then
    return array(select jsonb_object_keys(rule.event_data) as key order by key);
  end if;
  return array(
    select distinct keys.key
    from bellwire.tracked_tables as tracked
    cross join lateral jsonb_array_elements(tracked.arguments -> 'actions') as entry
    cross join lateral (
      select jsonb_object_keys(coalesce(entry -> 'metadata', '{}')) as key
      union all
      select 'title' where not entry ? 'metadata' and tracked.arguments ->> 'title' is not null
      union all
      select unnest(array[columns.name, 'previous_' || columns.name])
      from jsonb_array_elements_text(coalesce(entry -> 'of', '[]')) as columns(name)
      where not entry ? 'metadata' and entry ->> 'on' = 'update'
      union all
      select case when entry ->> 'resource' = 'parent' then split_part(tracked.arguments ->> 'parent', ':', 1)
        else tracked.type end || '_id'
    ) as keys
    where tracked.call = 'track' and entry ->> 'action' = rule.action and keys.key is not null
    order by 1);
end
$$;

comment on function bellwire.webhook_event_keys(bellwire.action_rules) is 'The keys of the data of an event.';

revoke all on function bellwire.webhook_event_keys(bellwire.action_rules) from public;
