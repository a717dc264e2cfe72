-- Keeps bellwire.memberships in step with an application's own membership table. Rows that are there are taken over.
--
--   select bellwire.track_members('public.team_members', scope => 'team:team_id', member => 'user_id', role => 'role');
--
-- scope is type:expression of the scope's key; member an expression that gives a bellwire.users id (user_id() of a person of
-- the application's own); role one of owner, admin, lead, member, guest. A table can be given to track() as well, for
-- actions on the scope.
-- Called by: bellwire_admin with the TRIGGER right on the table, or its owner.
-- Errors: 22023 for what cannot be generated. What a row of the application cannot give, an unknown role, is a rule failure.
create or replace function bellwire.track_members(
  table_name regclass,
  scope text,
  member text,
  role text default '''member'''
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  arguments constant jsonb := jsonb_build_object('scope', scope, 'member', member, 'role', role);
begin
  perform bellwire.remember_table(table_name, 'members', null, arguments);
  perform bellwire.generate_members(table_name, arguments, true);
end
$$;

comment on function bellwire.track_members(regclass, text, text, text) is
  'Mirrors an application''s membership table into bellwire.memberships.';

revoke all on function bellwire.track_members(regclass, text, text, text) from public;
grant execute on function bellwire.track_members(regclass, text, text, text) to bellwire_admin;
