-- The catalogue of what is sent: every action with emits, and the test. What its rule does not say is worked out: the keys
-- from event_data or from how the table is tracked, the types from the example or the name of the key.
-- Called by: bellwire_server for the description of the API, bellwire_admin, api.list_webhook_event_types().
-- Errors: none.
-- Source: reference 000, section 2a.
create or replace function bellwire.webhook_event_types()
returns table (type text, description text, data_schema jsonb, example jsonb, is_documented boolean)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return query
    with known as materialized (
      select
        rule.action,
        coalesce(rule.event_description, format('Somebody %s a %s.', rule.verb, split_part(rule.action, '.', 1))) as description,
        rule.event_example as given_example,
        rule.event_data is not null as has_fixed_keys,
        bellwire.webhook_event_keys(rule) as keys
      from bellwire.action_rules as rule
      where rule.emits
      union all
      values (
        'webhook.test', 'A test, asked for by an administrator and sent to that subscription alone.',
        '{"message": "A test. Nothing has happened.", "subscription_id": 7}'::jsonb, true,
        array['message', 'subscription_id'])
    )
    select
      known.action,
      known.description,
      bellwire.webhook_data_schema(known.keys, known.given_example, known.has_fixed_keys),
      coalesce(known.given_example, bellwire.webhook_data_example(known.keys)),
      known.given_example is not null
    from known
    order by known.action;
end
$$;

comment on function bellwire.webhook_event_types() is
  'The types of events that are sent, with a schema and an example of their data.';

revoke all on function bellwire.webhook_event_types() from public;
grant execute on function bellwire.webhook_event_types() to bellwire_server, bellwire_admin;
