-- Trigger function: when an archive gets or loses its squad, its documents, versions and comments follow. The composite
-- keys carry a change from one squad to another; from and to no squad at all they do not (a null matches nothing).
-- Called by: trigger _100_follow on suite.archives, after update of squad_id.
-- Errors: none.
create or replace function suite.follow_archive()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  update suite.logs as log
  set squad_id = new.squad_id
  where log.archive_id = new.id and log.squad_id is distinct from new.squad_id;

  update suite.versions as version
  set squad_id = new.squad_id
  from suite.logs as log
  where log.archive_id = new.id and version.log_id = log.id and version.squad_id is distinct from new.squad_id;

  update suite.comments as comment
  set squad_id = new.squad_id
  from suite.logs as log
  where log.archive_id = new.id and comment.log_id = log.id and comment.squad_id is distinct from new.squad_id;
  return null;
end
$$;

comment on function suite.follow_archive() is 'Repeats the squad of an archive on everything in it.';

revoke all on function suite.follow_archive() from public;
grant execute on function suite.follow_archive() to bellwire_owner;
