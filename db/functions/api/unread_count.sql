-- The badge: unread notifications the caller can see.
-- Called by: authenticated.
-- Errors: none.
create or replace function api.unread_count()
returns bigint
language plpgsql
stable
set search_path = ''
as $$
begin
  return (
    select count(*)
    from bellwire.notifications as notification
    where notification.user_id = bellwire.current_user_id()
      and notification.read_at is null
      and notification.deleted_at is null
  );
end
$$;

comment on function api.unread_count() is 'How many unread notifications the caller has.';

revoke all on function api.unread_count() from public;
grant execute on function api.unread_count() to authenticated;
