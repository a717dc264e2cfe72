-- Whether anybody may ask for an account.
-- Called by: bellwire_server.
-- Errors: none.
create or replace function identity.is_sign_up_open()
returns boolean
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return (select value = 1 from bellwire.settings where name = 'open_sign_up');
end
$$;

comment on function identity.is_sign_up_open() is 'Whether open_sign_up is 1.';

revoke all on function identity.is_sign_up_open() from public;
grant execute on function identity.is_sign_up_open() to bellwire_server;
