-- Trigger function: repeats the squad of the archive or document on a new row, whatever the caller gave, and signs it
-- with the caller. A document that is not there leaves the squad empty; the foreign key or the policy then refuses
-- the row.
-- Called by: trigger _100_place on suite.logs, suite.versions and suite.comments, before insert.
-- Errors: none.
create or replace function suite.place_row()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  caller_id constant bigint := bellwire.current_user_id();
begin
  if tg_table_name = 'logs' then
    new.squad_id := (select archive.squad_id from suite.archives as archive where archive.id = new.archive_id);
    new.created_by := coalesce(caller_id, new.created_by);
    new.updated_by := new.created_by;
  elsif tg_table_name = 'versions' then
    new.squad_id := (select log.squad_id from suite.logs as log where log.id = new.log_id);
    new.created_by := coalesce(caller_id, new.created_by);
  else
    new.squad_id := (select log.squad_id from suite.logs as log where log.id = new.log_id);
    new.author_id := coalesce(caller_id, new.author_id);
  end if;
  return new;
end
$$;

comment on function suite.place_row() is 'Fills squad and author of a new row.';

revoke all on function suite.place_row() from public;
grant execute on function suite.place_row() to bellwire_owner;
