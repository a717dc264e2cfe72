-- Renames a document. The same title again records nothing.
-- Called by: authenticated.
-- Errors: P0002, 42501 for a guest; 23514 for an empty or long title.
create or replace function api.rename_document(id bigint, title text)
returns setof api.documents
language plpgsql
set search_path = ''
as $$
#variable_conflict use_variable
begin
  update suite.logs as changed
  set title = rename_document.title
  where changed.id = rename_document.id;
  if not found then
    perform suite.refuse_invisible(
      'document', exists (select from suite.logs as seen where seen.id = rename_document.id));
  end if;
  return query select shown.* from api.documents as shown where shown.id = rename_document.id;
end
$$;

comment on function api.rename_document(bigint, text) is 'Renames a document.';

revoke all on function api.rename_document(bigint, text) from public;
grant execute on function api.rename_document(bigint, text) to authenticated;
