-- The documents of the caller's squads.
create or replace view api.documents with (security_invoker = true) as
select
  log.id, log.archive_id, log.squad_id, log.parent_id, log.title, log.html,
  log.created_by, log.updated_by, log.created_at, log.updated_at
from suite.logs as log;
comment on view api.documents is 'Documents the caller reads.';
comment on column api.documents.id is 'The key.';
comment on column api.documents.archive_id is 'The archive it is in.';
comment on column api.documents.squad_id is 'The squad it belongs to.';
comment on column api.documents.parent_id is 'The document it is below. Null: at the top of its archive.';
comment on column api.documents.title is 'What people call it.';
comment on column api.documents.html is 'What it says.';
comment on column api.documents.created_by is
  'Who wrote it first, and its owner. Null: somebody who is gone, or the system.';
comment on column api.documents.updated_by is 'Who changed it last. Null: nobody, or somebody who is gone.';
comment on column api.documents.created_at is 'When it was written first.';
comment on column api.documents.updated_at is 'When it was changed last.';
grant select on api.documents to authenticated;
