-- The archives of the caller's squads.
create or replace view api.archives with (security_invoker = true) as
select archive.id, archive.squad_id, archive.name, archive.created_by, archive.created_at
from suite.archives as archive;
comment on view api.archives is 'Archives the caller reads.';
comment on column api.archives.id is 'The key.';
comment on column api.archives.squad_id is 'The squad that owns it. Null: nobody reads it.';
comment on column api.archives.name is 'What people call it.';
comment on column api.archives.created_by is 'Who made it. Null: somebody who is gone, or the system.';
comment on column api.archives.created_at is 'When it was made.';
grant select on api.archives to authenticated;
