-- Lets an administrator act as a person of the application, by the key they have there. See act_as().
-- Called by: bellwire_admin and the owner, for their session.
-- Errors: P0002 no such person.
create or replace function bellwire.act_as_external(external_id text)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if external_id is not null and bellwire.user_id(external_id) is null then
    raise exception 'there is nobody with the key %', external_id
      using errcode = 'P0002', hint = 'select external_id, name from bellwire.users where external_id is not null';
  end if;
  perform bellwire.act_as(bellwire.user_id(external_id));
end
$$;

comment on function bellwire.act_as_external(text) is
  'Sets the acting user by external_id for the rest of the session; null is the system again.';

revoke all on function bellwire.act_as_external(text) from public;
grant execute on function bellwire.act_as_external(text) to bellwire_admin;
