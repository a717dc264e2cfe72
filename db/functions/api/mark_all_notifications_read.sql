-- Marks every unread notification the caller can see read.
-- Called by: authenticated.
-- Errors: none.
create or replace function api.mark_all_notifications_read()
returns integer
language plpgsql
set search_path = ''
as $$
declare
  updated_count integer;
begin
  update bellwire.notifications as notification
  set read_at = now()
  where notification.user_id = bellwire.current_user_id() and notification.read_at is null;
  get diagnostics updated_count = row_count;
  return updated_count;
end
$$;

comment on function api.mark_all_notifications_read() is 'Marks all read; returns how many were not.';

revoke all on function api.mark_all_notifications_read() from public;
grant execute on function api.mark_all_notifications_read() to authenticated;
