-- Makes an archive in a squad.
-- Called by: authenticated.
-- Errors: P0002 for a squad the caller does not see; 42501 for a guest; 23514 for an empty or long name.
create or replace function api.create_archive(squad_id bigint, name text)
returns setof api.archives
language plpgsql
set search_path = ''
as $$
#variable_conflict use_variable
declare
  new_id bigint;
begin
  if squad_id is null or squad_id not in (select suite.my_squads('member')) then
    perform suite.refuse_invisible('squad', squad_id in (select suite.my_squads('guest')));
  end if;
  insert into suite.archives as archive (squad_id, name) values (squad_id, name) returning archive.id into new_id;
  return query select shown.* from api.archives as shown where shown.id = new_id;
end
$$;

comment on function api.create_archive(bigint, text) is 'Makes an archive.';

revoke all on function api.create_archive(bigint, text) from public;
grant execute on function api.create_archive(bigint, text) to authenticated;
