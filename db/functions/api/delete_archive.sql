-- Deletes an archive with its documents.
-- Called by: authenticated.
-- Errors: P0002, 42501 for less than a lead.
create or replace function api.delete_archive(id bigint)
returns void
language plpgsql
set search_path = ''
as $$
begin
  delete from suite.archives as gone where gone.id = delete_archive.id;
  if not found then
    perform suite.refuse_invisible(
      'archive', exists (select from suite.archives as seen where seen.id = delete_archive.id));
  end if;
end
$$;

comment on function api.delete_archive(bigint) is 'Deletes an archive.';

revoke all on function api.delete_archive(bigint) from public;
grant execute on function api.delete_archive(bigint) to authenticated;
