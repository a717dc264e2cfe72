-- The data of an event, as its rule says: which keys, and where each comes from. Without a rule of its own it is the
-- metadata, with the id of the thing.
-- Called by: envelope(), as bellwire_definer.
-- Errors: none.
-- Source: reference 000, section 2a, step 3.
create or replace function bellwire.event_data(event bellwire.webhook_events)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  return (
    select case
      when rule.event_data is null then
        (select jsonb_object_agg(pair.key, bellwire.event_value(pair.key, pair.value))
         from jsonb_each(activity.metadata || jsonb_build_object(subject.type || '_id', subject.ref)) as pair)
      else
        (select jsonb_object_agg(pair.key, bellwire.event_value(pair.key,
           case pair.value
             when 'ref' then to_jsonb(subject.ref)
             when 'parent_ref' then to_jsonb(parent.ref)
             when 'title' then to_jsonb(event.title)
             else activity.metadata -> substr(pair.value, length('metadata.') + 1)
           end))
         from jsonb_each_text(rule.event_data) as pair)
    end
    from bellwire.activity_log as activity
    join bellwire.action_rules as rule on rule.action = activity.action
    join bellwire.resources as subject on subject.id = activity.resource_id
    left join bellwire.resources as parent on parent.id = subject.parent_id
    where activity.id = event.activity_id
  );
end
$$;

comment on function bellwire.event_data(bellwire.webhook_events) is 'The data object of a webhook event.';

revoke all on function bellwire.event_data(bellwire.webhook_events) from public;
