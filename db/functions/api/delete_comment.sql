-- Deletes a comment with its replies. Its author may, and a lead.
-- Called by: authenticated.
-- Errors: P0002; 42501 for anybody else.
create or replace function api.delete_comment(id bigint)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform suite.require_comment_role(delete_comment.id, 'lead');
  delete from suite.comments as comment where comment.id = delete_comment.id;
end
$$;

comment on function api.delete_comment(bigint) is 'Deletes a comment.';

revoke all on function api.delete_comment(bigint) from public;
grant execute on function api.delete_comment(bigint) to authenticated;
