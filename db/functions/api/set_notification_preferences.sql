-- Changes preferences: {"mention": {"email": false}}. Unknown kinds and keys are ignored, values are coerced to
-- boolean, what is not named stays.
-- Called by: authenticated.
-- Errors: 42501 for nobody; 22023 for what is no object.
-- Source: reference 000, section 4 "setPrefs"
create or replace function api.set_notification_preferences(preferences jsonb)
returns table (kind text, description text, in_app boolean, email boolean)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  if jsonb_typeof(preferences) is distinct from 'object' then
    raise exception 'preferences are an object: kind -> {in_app, email}'
      using errcode = '22023', hint = 'For example {"mention": {"email": false}}.';
  end if;
  if bellwire.current_user_id() is null then
    raise exception 'only a person has preferences'
      using errcode = '42501', hint = 'Sign in first.';
  end if;
  insert into bellwire.notification_preferences as mine (user_id, kind, in_app, email)
  select
    bellwire.current_user_id(),
    kind.kind,
    bellwire.as_boolean(choice.value -> 'in_app'),
    bellwire.as_boolean(choice.value -> 'email')
  from jsonb_each(preferences) as choice
  join bellwire.notification_kinds as kind on kind.kind = choice.key
  where jsonb_typeof(choice.value) = 'object'
  on conflict on constraint notification_preferences_pkey do update
  set in_app = coalesce(excluded.in_app, mine.in_app),
      email = coalesce(excluded.email, mine.email);
  return query select listed.* from api.list_notification_preferences() as listed;
end
$$;

comment on function api.set_notification_preferences(jsonb) is 'Changes the preferences of the caller.';

revoke all on function api.set_notification_preferences(jsonb) from public;
grant execute on function api.set_notification_preferences(jsonb) to authenticated;
