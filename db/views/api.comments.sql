-- The comments on the caller's documents.
create or replace view api.comments with (security_invoker = true) as
select
  comment.id, comment.log_id as document_id, comment.parent_id, comment.body, comment.author_id,
  comment.created_at, comment.updated_at, comment.resolved_at
from suite.comments as comment;
comment on view api.comments is 'Comments the caller reads.';
grant select on api.comments to authenticated;
