-- The bytes of a test: the keys of envelope(), in its order.
-- Called by: test_webhook(), as bellwire_definer.
-- Errors: none.
create or replace function bellwire.test_envelope(event bellwire.webhook_events, number bigint, subscription_id bigint)
returns bytea
language plpgsql
stable
set search_path = ''
as $$
declare
  max_actor_name constant integer := 32;
  actor text;
begin
  select '{"id":' || person.id || ',"name":' || to_json(left(person.name, max_actor_name)) || '}' into actor
  from bellwire.users as person
  where person.id = bellwire.current_user_id();
  return convert_to(
    '{"id":' || to_json(event.event_id)
    || ',"type":' || to_json(event.type)
    || ',"version":1'
    || ',"sequence":' || number
    || ',"occurred_at":' || to_json(to_char(event.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    || ',"workspace_id":' || coalesce(event.workspace_id::text, 'null')
    || ',"squad_id":null'
    || ',"actor":' || coalesce(actor, 'null')
    || ',"data":' || jsonb_build_object('message', 'A test. Nothing has happened.', 'subscription_id', subscription_id)
    || '}', 'UTF8');
end
$$;

comment on function bellwire.test_envelope(bellwire.webhook_events, bigint, bigint) is 'The body of a test event.';

revoke all on function bellwire.test_envelope(bellwire.webhook_events, bigint, bigint) from public;
