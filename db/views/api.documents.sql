-- The documents of the caller's squads.
create or replace view api.documents with (security_invoker = true) as
select
  log.id, log.archive_id, log.squad_id, log.parent_id, log.title, log.html,
  log.created_by, log.updated_by, log.created_at, log.updated_at
from suite.logs as log;
comment on view api.documents is 'Documents the caller reads.';
grant select on api.documents to authenticated;
