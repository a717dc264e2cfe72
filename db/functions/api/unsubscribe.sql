-- One click in a mail turns off e-mail of that kind for that person. The token is the authorisation.
-- Called by: anon, authenticated.
-- Errors: P0002 for an unknown token.
-- Source: RFC 8058
create or replace function api.unsubscribe(token uuid)
returns table (kind text, email text)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  told bellwire.notifications;
begin
  select notification.* into told
  from bellwire.email_outbox as outbox
  join bellwire.notifications as notification on notification.id = outbox.notification_id
  where outbox.unsubscribe_token = token;
  if told.id is null then
    raise exception 'this link is not valid any more'
      using errcode = 'P0002', hint = 'Change what is mailed in your notification preferences.';
  end if;
  insert into bellwire.notification_preferences as theirs (user_id, kind, email)
  values (told.user_id, told.kind, false)
  on conflict on constraint notification_preferences_pkey do update set email = false;
  return query select told.kind, person.email from bellwire.users as person where person.id = told.user_id;
end
$$;

comment on function api.unsubscribe(uuid) is 'Turns off e-mail of one kind for the reader of a mail.';

revoke all on function api.unsubscribe(uuid) from public;
grant execute on function api.unsubscribe(uuid) to anon, authenticated;
