-- Marks one notification read; once more is fine.
-- Called by: authenticated.
-- Errors: P0002 for an unknown id or somebody else's.
create or replace function api.mark_notification_read(id bigint)
returns void
language plpgsql
set search_path = ''
as $$
begin
  update bellwire.notifications as notification
  set read_at = now()
  where notification.id = mark_notification_read.id and notification.read_at is null;
  if not found and not exists (
    select from bellwire.notifications as notification where notification.id = mark_notification_read.id)
  then
    raise exception 'there is no such notification'
      using errcode = 'P0002', detail = 'notification_not_found',
        hint = 'It was deleted, it belongs to somebody else, or you cannot read its scope any more.';
  end if;
end
$$;

comment on function api.mark_notification_read(bigint) is 'Marks a notification read.';

revoke all on function api.mark_notification_read(bigint) from public;
grant execute on function api.mark_notification_read(bigint) to authenticated;
