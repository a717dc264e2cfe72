-- The types of events a subscription may ask for, for anybody who is signed in.
-- Called by: authenticated.
-- Errors: none; nobody and the deactivated get none.
create or replace function api.list_webhook_event_types()
returns table (type text, description text, data_schema jsonb, example jsonb)
language plpgsql
stable
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
    select known.type, known.description, known.data_schema, known.example
    from bellwire.webhook_event_types() as known
    where exists (
      select from bellwire.users as me where me.id = bellwire.current_user_id() and me.deactivated_at is null);
end
$$;

comment on function api.list_webhook_event_types() is 'The catalogue of webhook event types.';

revoke all on function api.list_webhook_event_types() from public;
grant execute on function api.list_webhook_event_types() to authenticated;
