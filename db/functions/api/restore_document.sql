-- Puts a published version back as the text of its document.
-- Called by: authenticated.
-- Errors: P0002 for the document or the version; 42501 for a guest.
create or replace function api.restore_document(id bigint, version_id bigint)
returns setof api.documents
language plpgsql
set search_path = ''
as $$
#variable_conflict use_variable
declare
  restored suite.versions;
begin
  select version.* into restored
  from suite.versions as version
  where version.id = version_id and version.log_id = restore_document.id;
  if restored.id is null then
    perform suite.refuse_invisible('version', false);
  end if;
  update suite.logs as changed
  set html = restored.html, restored_from_id = restored.id, restored_at = clock_timestamp()
  where changed.id = restore_document.id and changed.html <> restored.html;
  -- Where the document says already what the version says, nothing happens; who may not change it is told so all the same.
  if not found and not exists (
    select
    from suite.logs as same
    where same.id = restore_document.id
      and same.html = restored.html
      and same.squad_id in (select suite.my_squads('member'))
  ) then
    perform suite.refuse_invisible(
      'document', exists (select from suite.logs as seen where seen.id = restore_document.id));
  end if;
  return query select shown.* from api.documents as shown where shown.id = restore_document.id;
end
$$;

comment on function api.restore_document(bigint, bigint) is 'Restores a version.';

revoke all on function api.restore_document(bigint, bigint) from public;
grant execute on function api.restore_document(bigint, bigint) to authenticated;
