-- What was published of the caller's documents.
create or replace view api.versions with (security_invoker = true) as
select version.id, version.log_id as document_id, version.title, version.created_by, version.created_at
from suite.versions as version;
comment on view api.versions is 'Published versions the caller reads.';
comment on column api.versions.id is 'The key.';
comment on column api.versions.document_id is 'The document.';
comment on column api.versions.title is 'The title as it was published.';
comment on column api.versions.created_by is 'Who published it. Null: somebody who is gone, or the system.';
comment on column api.versions.created_at is 'When it was published.';
grant select on api.versions to authenticated;
