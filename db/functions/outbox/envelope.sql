-- The bytes of one webhook event, envelope version 1. Written key by key so that their order is fixed. Where the data
-- of a table of yours would not fit into 4 KiB, only its ids are sent and "truncated": true says so.
-- Called by: sequence_webhooks(), as bellwire_definer.
-- Errors: none.
-- Source: DESIGN, "Webhook outbox"; reference 000, section 2a.
create or replace function bellwire.envelope(event bellwire.webhook_events, number bigint)
returns bytea
language plpgsql
stable
set search_path = ''
as $$
declare
  max_bytes constant integer := 4096;
  max_actor_name constant integer := 32;
  data constant jsonb := coalesce(bellwire.event_data(event), '{}');
  squad_id text;
  actor_id bigint;
  actor_name text;
  head text;
  body bytea;
  ids jsonb;
begin
  select case when scope.type = 'squad' and scope.ref ~ '^[0-9]{1,18}$' then scope.ref end, activity.actor_id, actor.name
  into squad_id, actor_id, actor_name
  from bellwire.activity_log as activity
  join bellwire.resources as scope on scope.id = activity.scope_id
  left join bellwire.users as actor on actor.id = activity.actor_id
  where activity.id = event.activity_id;

  head :=
    '{"id":' || to_json(event.event_id)
    || ',"type":' || to_json(event.type)
    || ',"version":1'
    || ',"sequence":' || number
    || ',"occurred_at":' || to_json(to_char(event.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    || ',"workspace_id":' || event.workspace_id
    || ',"squad_id":' || coalesce(squad_id, 'null')
    || ',"actor":' || case
      when actor_id is null then 'null'
      else '{"id":' || actor_id
        || ',"name":' || coalesce(to_json(left(actor_name, max_actor_name))::text, 'null') || '}'
    end
    || ',"data":';
  body := convert_to(head || data || '}', 'UTF8');
  if octet_length(body) > max_bytes then
    select jsonb_object_agg(pair.key, pair.value) into ids
    from jsonb_each(data) as pair
    where pair.key ~ '_id$' and jsonb_typeof(pair.value) in ('number', 'null');
    body := convert_to(head || (coalesce(ids, '{}') || '{"truncated": true}') || '}', 'UTF8');
  end if;
  if octet_length(body) > max_bytes then
    body := convert_to(head || '{"truncated": true}}', 'UTF8');
  end if;
  return body;
end
$$;

comment on function bellwire.envelope(bellwire.webhook_events, bigint) is
  'The body of a webhook event, at most 4 KiB of UTF-8.';

revoke all on function bellwire.envelope(bellwire.webhook_events, bigint) from public;
