-- What a new installation begins with: a workspace, a squad, an archive and a welcome document of its administrator.
-- Only where there is no workspace, archive or document at all: not even one that a deleted workspace left behind. Either all
-- of it is written or nothing.
-- Called by: bellwire_server, at a start that has an administrator.
-- Errors: 42501 for nobody, or for one who is not an active administrator.
-- Returns: whether anything was written.
-- Source: reference 001, section 1 "Bootstrap instance".
create or replace function suite.seed_first_run(admin_id bigint)
returns boolean
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  seed_lock constant integer := 7311;
  new_workspace_id bigint;
  new_squad_id bigint;
  new_archive_id bigint;
begin
  if not exists (
    select from bellwire.users as person
    where person.id = admin_id and person.is_admin and person.deactivated_at is null
  ) then
    raise exception 'only an administrator can own the first workspace'
      using errcode = '42501', hint = 'Set ADMIN_USERNAME, ADMIN_PASSWORD and ADMIN_EMAIL.';
  end if;
  -- Several servers may start at once.
  perform pg_advisory_xact_lock(seed_lock, 0);
  if exists (select from bellwire.workspaces) or exists (select from suite.archives) or exists (select from suite.logs) then
    return false;
  end if;
  -- The rules then name the administrator as who did it.
  perform set_config(
    'request.jwt.claims', jsonb_build_object('sub', admin_id::text, 'role', 'authenticated')::text, true);
  select made.id into new_workspace_id from api.create_workspace('My workspace') as made;
  select made.id into new_squad_id from api.create_squad(new_workspace_id, 'My squad') as made;
  insert into suite.archives as archive (squad_id, name)
  values (new_squad_id, 'My archive')
  returning archive.id into new_archive_id;
  insert into suite.logs (archive_id, title, html)
  values (
    new_archive_id, 'Welcome',
    '<p>This is a document. Watch it, or its archive, and you are told of every change that somebody else makes.</p>');
  perform set_config('request.jwt.claims', '', true);
  return true;
end
$$;

comment on function suite.seed_first_run(bigint) is
  'Fills an empty installation with a workspace, a squad, an archive and a document; returns whether it did.';

revoke all on function suite.seed_first_run(bigint) from public;
grant execute on function suite.seed_first_run(bigint) to bellwire_server;
