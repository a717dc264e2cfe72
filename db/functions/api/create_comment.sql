-- Comments on a document, or replies to a comment on it.
-- Called by: authenticated.
-- Errors: P0002 for a document the caller does not see; 22023 bad_parent; 23514 empty or over 20,000 characters.
create or replace function api.create_comment(document_id bigint, body text, parent_id bigint default null)
returns setof api.comments
language plpgsql
set search_path = ''
as $$
#variable_conflict use_variable
declare
  new_id bigint;
begin
  if not exists (select from suite.logs as log where log.id = document_id) then
    perform suite.refuse_invisible('document', false);
  end if;
  if parent_id is not null and not exists (
    select from suite.comments as parent where parent.id = parent_id and parent.log_id = document_id)
  then
    raise exception 'the comment replied to is not on this document'
      using errcode = '22023', detail = 'bad_parent', hint = 'Pass the id of a comment on the same document, or none.';
  end if;
  insert into suite.comments as comment (log_id, body, parent_id)
  values (document_id, body, parent_id)
  returning comment.id into new_id;
  return query select shown.* from api.comments as shown where shown.id = new_id;
end
$$;

comment on function api.create_comment(bigint, text, bigint) is 'Comments on a document.';

revoke all on function api.create_comment(bigint, text, bigint) from public;
grant execute on function api.create_comment(bigint, text, bigint) to authenticated;
