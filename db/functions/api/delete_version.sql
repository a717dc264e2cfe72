-- Deletes a published version.
-- Called by: authenticated.
-- Errors: P0002, 42501 for less than a lead.
create or replace function api.delete_version(id bigint)
returns void
language plpgsql
set search_path = ''
as $$
begin
  delete from suite.versions as gone where gone.id = delete_version.id;
  if not found then
    perform suite.refuse_invisible(
      'version', exists (select from suite.versions as seen where seen.id = delete_version.id));
  end if;
end
$$;

comment on function api.delete_version(bigint) is 'Deletes a version.';

revoke all on function api.delete_version(bigint) from public;
grant execute on function api.delete_version(bigint) to authenticated;
