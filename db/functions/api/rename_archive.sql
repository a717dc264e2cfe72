-- Renames an archive. The same name again records nothing.
-- Called by: authenticated.
-- Errors: P0002, 42501 for a guest; 23514 for an empty or long name.
create or replace function api.rename_archive(id bigint, name text)
returns setof api.archives
language plpgsql
set search_path = ''
as $$
#variable_conflict use_variable
begin
  update suite.archives as changed
  set name = rename_archive.name
  where changed.id = rename_archive.id;
  if not found then
    perform suite.refuse_invisible(
      'archive', exists (select from suite.archives as seen where seen.id = rename_archive.id));
  end if;
  return query select shown.* from api.archives as shown where shown.id = rename_archive.id;
end
$$;

comment on function api.rename_archive(bigint, text) is 'Renames an archive.';

revoke all on function api.rename_archive(bigint, text) from public;
grant execute on function api.rename_archive(bigint, text) to authenticated;
