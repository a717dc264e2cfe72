-- Every kind with the caller's choice, the default where they made none.
-- Called by: authenticated.
-- Errors: none.
create or replace function api.list_notification_preferences()
returns table (kind text, description text, in_app boolean, email boolean)
language sql
stable
security definer
set search_path = ''
as $$
  select
    kind.kind,
    kind.description,
    coalesce(preference.in_app, true),
    coalesce(preference.email, kind.email_by_default)
  from bellwire.notification_kinds as kind
  left join bellwire.notification_preferences as preference
    on preference.kind = kind.kind and preference.user_id = bellwire.current_user_id()
  order by kind.kind
$$;

comment on function api.list_notification_preferences() is 'The preferences of the caller, per kind.';

revoke all on function api.list_notification_preferences() from public;
grant execute on function api.list_notification_preferences() to authenticated;
