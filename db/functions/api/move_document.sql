-- Moves a document below another one of its archive; null moves it to the root.
-- Called by: authenticated.
-- Errors: P0002, 42501 for a guest; 22023 bad_parent.
create or replace function api.move_document(id bigint, parent_id bigint)
returns setof api.documents
language plpgsql
set search_path = ''
as $$
#variable_conflict use_variable
begin
  update suite.logs as changed
  set parent_id = move_document.parent_id
  where changed.id = move_document.id;
  if not found then
    perform suite.refuse_invisible(
      'document', exists (select from suite.logs as seen where seen.id = move_document.id));
  end if;
  return query select shown.* from api.documents as shown where shown.id = move_document.id;
end
$$;

comment on function api.move_document(bigint, bigint) is 'Moves a document.';

revoke all on function api.move_document(bigint, bigint) from public;
grant execute on function api.move_document(bigint, bigint) to authenticated;
