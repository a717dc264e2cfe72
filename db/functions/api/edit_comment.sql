-- Changes the text of one's own comment.
-- Called by: authenticated.
-- Errors: P0002, 42501 for somebody else's; 23514 empty or over 20,000 characters.
create or replace function api.edit_comment(id bigint, body text)
returns setof api.comments
language plpgsql
set search_path = ''
as $$
#variable_conflict use_variable
begin
  update suite.comments as changed
  set body = edit_comment.body, updated_at = now()
  where changed.id = edit_comment.id;
  if not found then
    perform suite.refuse_invisible(
      'comment', exists (select from suite.comments as seen where seen.id = edit_comment.id));
  end if;
  return query select shown.* from api.comments as shown where shown.id = edit_comment.id;
end
$$;

comment on function api.edit_comment(bigint, text) is 'Edits a comment.';

revoke all on function api.edit_comment(bigint, text) from public;
grant execute on function api.edit_comment(bigint, text) to authenticated;
