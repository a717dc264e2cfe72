-- Deactivates people whom an application has deleted. They are not deleted here: what they did keeps their name.
-- Called by: the functions track_users() generates.
-- Errors: none.
create or replace function bellwire.deactivate_users(external_ids text[])
returns void
language sql
security definer
set search_path = ''
as $$
  update bellwire.users as person set deactivated_at = now()
  where person.external_id = any (external_ids) and person.deactivated_at is null
$$;

comment on function bellwire.deactivate_users(text[]) is 'Sets deactivated_at of people by their external_id.';

revoke all on function bellwire.deactivate_users(text[]) from public;
