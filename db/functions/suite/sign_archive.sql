-- Trigger function: a new archive is signed by the caller.
-- Called by: trigger _100_sign on suite.archives, before insert.
-- Errors: none.
create or replace function suite.sign_archive()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.created_by := coalesce(bellwire.current_user_id(), new.created_by);
  return new;
end
$$;

comment on function suite.sign_archive() is 'Sets created_by to the caller.';

revoke all on function suite.sign_archive() from public;
grant execute on function suite.sign_archive() to bellwire_owner;
