-- Makes a document in an archive, at its root or below another document of it.
-- Called by: authenticated.
-- Errors: P0002 for an archive the caller does not see; 42501 for a guest; 22023 bad_parent; 23514 out of bounds.
create or replace function api.create_document(
  archive_id bigint,
  title text,
  html text default '',
  parent_id bigint default null
)
returns setof api.documents
language plpgsql
set search_path = ''
as $$
#variable_conflict use_variable
declare
  of_squad_id bigint;
  new_id bigint;
begin
  select archive.squad_id into of_squad_id from suite.archives as archive where archive.id = archive_id;
  if of_squad_id is null or of_squad_id not in (select suite.my_squads('member')) then
    perform suite.refuse_invisible('archive', of_squad_id is not null);
  end if;
  insert into suite.logs as log (archive_id, title, html, parent_id)
  values (archive_id, title, coalesce(html, ''), parent_id)
  returning log.id into new_id;
  return query select shown.* from api.documents as shown where shown.id = new_id;
end
$$;

comment on function api.create_document(bigint, text, text, bigint) is 'Makes a document.';

revoke all on function api.create_document(bigint, text, text, bigint) from public;
grant execute on function api.create_document(bigint, text, text, bigint) to authenticated;
