-- Deletes a document with everything below it.
-- Called by: authenticated.
-- Errors: P0002, 42501 for a guest.
create or replace function api.delete_document(id bigint)
returns void
language plpgsql
set search_path = ''
as $$
begin
  delete from suite.logs as gone where gone.id = delete_document.id;
  if not found then
    perform suite.refuse_invisible(
      'document', exists (select from suite.logs as seen where seen.id = delete_document.id));
  end if;
end
$$;

comment on function api.delete_document(bigint) is 'Deletes a document.';

revoke all on function api.delete_document(bigint) from public;
grant execute on function api.delete_document(bigint) to authenticated;
