-- Marks a comment as settled. Members may, and its author.
-- Called by: authenticated.
-- Errors: P0002; 42501 for a guest who is not the author.
create or replace function api.resolve_comment(id bigint)
returns setof api.comments
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
begin
  perform suite.require_comment_role(resolve_comment.id, 'member');
  update suite.comments as comment
  set resolved_at = coalesce(comment.resolved_at, now())
  where comment.id = resolve_comment.id;
  return query
    select
      comment.id, comment.log_id, comment.parent_id, comment.body, comment.author_id,
      comment.created_at, comment.updated_at, comment.resolved_at
    from suite.comments as comment
    where comment.id = resolve_comment.id;
end
$$;

comment on function api.resolve_comment(bigint) is 'Resolves a comment.';

revoke all on function api.resolve_comment(bigint) from public;
grant execute on function api.resolve_comment(bigint) to authenticated;
