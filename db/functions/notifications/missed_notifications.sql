-- What a client that was away has missed: notifications newer than its cursor, oldest first.
-- Called by: bellwire_server, when a socket authenticates with a cursor.
-- Errors: 22023 invalid_cursor.
create or replace function bellwire.missed_notifications(user_id bigint, after_cursor text, max_count integer)
returns table (notification jsonb, cursor text)
language plpgsql
stable
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  max_page_size constant integer := 1000;
  place record;
begin
  select decoded.created_at, decoded.id into place from bellwire.decode_cursor(after_cursor) as decoded;
  return query
    select bellwire.notification_json(missed), bellwire.encode_cursor(missed.created_at, missed.id)
    from bellwire.notifications as missed
    where missed.user_id = missed_notifications.user_id
      and missed.deleted_at is null
      and (missed.created_at, missed.id) > (place.created_at, place.id)
      and bellwire.can_read(missed.user_id, missed.workspace_id, missed.scope_id)
    order by missed.created_at, missed.id
    limit least(max_count, max_page_size);
end
$$;

comment on function bellwire.missed_notifications(bigint, text, integer) is
  'Notifications of a person after a cursor, oldest first.';

revoke all on function bellwire.missed_notifications(bigint, text, integer) from public;
grant execute on function bellwire.missed_notifications(bigint, text, integer) to bellwire_server;
