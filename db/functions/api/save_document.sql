-- Saves the text of a document. The same text again records nothing.
-- Called by: authenticated.
-- Errors: P0002, 42501 for a guest; 23514 over a million characters.
create or replace function api.save_document(id bigint, html text)
returns setof api.documents
language plpgsql
set search_path = ''
as $$
#variable_conflict use_variable
begin
  update suite.logs as changed
  set html = save_document.html
  where changed.id = save_document.id;
  if not found then
    perform suite.refuse_invisible(
      'document', exists (select from suite.logs as seen where seen.id = save_document.id));
  end if;
  return query select shown.* from api.documents as shown where shown.id = save_document.id;
end
$$;

comment on function api.save_document(bigint, text) is 'Saves a document.';

revoke all on function api.save_document(bigint, text) from public;
grant execute on function api.save_document(bigint, text) to authenticated;
