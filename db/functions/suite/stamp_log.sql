-- Trigger function: an edit is signed and dated.
-- Called by: trigger _100_stamp on suite.logs, before update of title, html or parent_id.
-- Errors: none.
create or replace function suite.stamp_log()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.updated_at := now();
  new.updated_by := coalesce(bellwire.current_user_id(), new.updated_by);
  return new;
end
$$;

comment on function suite.stamp_log() is 'Sets updated_at and updated_by.';

revoke all on function suite.stamp_log() from public;
grant execute on function suite.stamp_log() to bellwire_owner;
