-- The comments on the caller's documents.
create or replace view api.comments with (security_invoker = true) as
select
  comment.id, comment.log_id as document_id, comment.parent_id, comment.body, comment.author_id,
  comment.created_at, comment.updated_at, comment.resolved_at
from suite.comments as comment;
comment on view api.comments is 'Comments the caller reads.';
comment on column api.comments.id is 'The key.';
comment on column api.comments.document_id is 'The document.';
comment on column api.comments.parent_id is 'The comment it replies to. Null: none.';
comment on column api.comments.body is 'What it says.';
comment on column api.comments.author_id is 'Who wrote it. Null: somebody who is gone, or the system.';
comment on column api.comments.created_at is 'When it was written.';
comment on column api.comments.updated_at is 'When it was changed last.';
comment on column api.comments.resolved_at is 'When it was settled. Null: it is open.';
grant select on api.comments to authenticated;
