-- The archives of the caller's squads.
create or replace view api.archives with (security_invoker = true) as
select archive.id, archive.squad_id, archive.name, archive.created_by, archive.created_at
from suite.archives as archive;
comment on view api.archives is 'Archives the caller reads.';
grant select on api.archives to authenticated;
