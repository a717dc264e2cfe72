-- Lets an administrator on a psql prompt act as a person: the rules then name that person as the actor.
-- It changes who the change is by, not what the session may do.
-- Called by: bellwire_admin and the owner, for their session.
-- Errors: P0002 no such user.
create or replace function bellwire.act_as(user_id bigint)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if user_id is null then
    perform set_config('request.jwt.claims', '', false);
    return;
  end if;
  if not exists (select from bellwire.users as person where person.id = act_as.user_id) then
    raise exception 'there is no user %', user_id
      using errcode = 'P0002', hint = 'select id, name, email from bellwire.users';
  end if;
  perform set_config('request.jwt.claims', jsonb_build_object('sub', user_id::text, 'role', 'bellwire_admin')::text, false);
end
$$;

comment on function bellwire.act_as(bigint) is
  'Sets the acting user for the rest of the session; act_as(null) is the system again.';

revoke all on function bellwire.act_as(bigint) from public;
grant execute on function bellwire.act_as(bigint) to bellwire_admin;
