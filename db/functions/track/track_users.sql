-- Mirrors the people of an application into bellwire.users, under their key as external_id. Whoever is there is taken over;
-- insert, update and delete are followed, and who is deleted is deactivated, because history names them.
--
--   select bellwire.track_users('app.users', name => 'full_name', email => 'email', active => 'deleted_at is null');
--
-- id, name, email, avatar_url and active are SQL expressions over the row's columns; id is the primary key by default.
-- Where user_id('…') is used in owner, names or member, the person is found by that key. Two tables of people whose keys
-- may be alike need a prefix: id => '''agent:'' || id'.
-- Called by: bellwire_admin with the TRIGGER right on the table, or its owner.
-- Errors: 22023 for what cannot be generated. What a row cannot give, an address that is taken, is a rule failure.
create or replace function bellwire.track_users(
  table_name regclass,
  name text,
  email text,
  id text default null,
  avatar_url text default 'null',
  active text default 'true'
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  arguments constant jsonb := jsonb_build_object(
    'id', id, 'name', name, 'email', email, 'avatar_url', avatar_url, 'active', active);
begin
  if table_name is null or name is null or email is null then
    raise exception 'track_users() needs a table, a name and an e-mail address'
      using errcode = '22023', hint = 'Where there is no address pass email => ''null''.';
  end if;
  perform bellwire.remember_table(table_name, 'users', null, arguments);
  perform bellwire.generate_users(table_name, arguments, true);
end
$$;

comment on function bellwire.track_users(regclass, text, text, text, text, text) is
  'Mirrors an application''s people into bellwire.users.';

revoke all on function bellwire.track_users(regclass, text, text, text, text, text) from public;
grant execute on function bellwire.track_users(regclass, text, text, text, text, text) to bellwire_admin;
