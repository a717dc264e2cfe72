-- What was published of the caller's documents.
create or replace view api.versions with (security_invoker = true) as
select version.id, version.log_id as document_id, version.title, version.created_by, version.created_at
from suite.versions as version;
comment on view api.versions is 'Published versions the caller reads.';
grant select on api.versions to authenticated;
