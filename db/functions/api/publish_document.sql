-- Publishes a document as it is now, as a version with a name.
-- Called by: authenticated.
-- Errors: P0002, 42501 for a guest; 23514 for an empty or long name.
create or replace function api.publish_document(id bigint, title text)
returns setof api.versions
language plpgsql
set search_path = ''
as $$
#variable_conflict use_variable
declare
  published suite.logs;
  new_id bigint;
begin
  select log.* into published from suite.logs as log where log.id = publish_document.id;
  if published.id is null or published.squad_id not in (select suite.my_squads('member')) then
    perform suite.refuse_invisible('document', published.id is not null);
  end if;
  insert into suite.versions as version (log_id, title, html)
  values (published.id, title, published.html)
  returning version.id into new_id;
  return query select shown.* from api.versions as shown where shown.id = new_id;
end
$$;

comment on function api.publish_document(bigint, text) is 'Publishes a document.';

revoke all on function api.publish_document(bigint, text) from public;
grant execute on function api.publish_document(bigint, text) to authenticated;
