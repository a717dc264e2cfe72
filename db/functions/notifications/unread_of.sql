-- How many unread notifications a person sees: the badge.
-- Called by: push_events() and missed_notifications(), as bellwire_definer; api.unread_count() asks the same under row security.
-- Errors: none.
create or replace function bellwire.unread_of(reader_id bigint)
returns bigint
language plpgsql
stable
set search_path = ''
as $$
begin
  return (
    select coalesce(sum(scopes.unread_count), 0)::bigint
    from (
      select notification.workspace_id, notification.scope_id, count(*) as unread_count
      from bellwire.notifications as notification
      where notification.user_id = reader_id and notification.read_at is null and notification.deleted_at is null
      group by notification.workspace_id, notification.scope_id
      offset 0 -- asked once per scope: the planner would push the question below the grouping, and ask for every row
    ) as scopes
    where bellwire.can_read(reader_id, scopes.workspace_id, scopes.scope_id)
  );
end
$$;

comment on function bellwire.unread_of(bigint) is 'The unread count of a person.';

revoke all on function bellwire.unread_of(bigint) from public;
