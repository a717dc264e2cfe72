-- What track(), track_members() and track_users() were called with is kept per call, so that the generated functions can
-- be made again; members wait for a scope that is not registered yet.
set local role bellwire_owner;

alter table bellwire.tracked_tables
  add column call text not null default 'track',
  drop constraint tracked_tables_pkey,
  add constraint tracked_tables_pkey primary key (table_name, call),
  add constraint tracked_tables_call_known check (call in ('track', 'members', 'users'));
comment on table bellwire.tracked_tables is 'What track(), track_members() and track_users() were called with, per table.';
comment on column bellwire.tracked_tables.call is 'track, members or users: which of them it was.';

create table bellwire.waiting_members (
  scope_type text not null,
  scope_ref text not null,
  user_id bigint not null,
  role text not null,
  created_at timestamptz not null default now(),
  constraint waiting_members_pkey primary key (scope_type, scope_ref, user_id),
  constraint waiting_members_user_fkey foreign key (user_id) references bellwire.users (id) on delete cascade,
  constraint waiting_members_scope_type_length check (char_length(scope_type) <= 63),
  constraint waiting_members_scope_ref_length check (char_length(scope_ref) between 1 and 255),
  constraint waiting_members_role_known check (role in ('owner', 'admin', 'lead', 'member', 'guest'))
);
comment on table bellwire.waiting_members is
  'Members whose scope is not in the registry yet; they become memberships when it is registered.';

comment on column bellwire.waiting_members.scope_type is 'Type of the scope they belong to.';
comment on column bellwire.waiting_members.scope_ref is 'Key of the scope in the application.';
comment on column bellwire.waiting_members.user_id is 'Who waits.';
comment on column bellwire.waiting_members.role is 'What they will be: owner, admin, lead, member or guest.';
comment on column bellwire.waiting_members.created_at is 'Since when they wait.';

create index waiting_members_user on bellwire.waiting_members (user_id);
comment on index bellwire.waiting_members_user is 'Serves the deletion of a user.';

create type bellwire.user_entry as (
  external_id text,
  name text,
  email text,
  avatar_url text,
  is_active boolean
);
comment on type bellwire.user_entry is 'What track_users() hands to put_users(): one person of the application.';
comment on column bellwire.user_entry.external_id is 'Key of the person in the application.';
comment on column bellwire.user_entry.name is 'What they are called.';
comment on column bellwire.user_entry.email is 'Their address; null where there is none.';
comment on column bellwire.user_entry.avatar_url is 'Their picture.';
comment on column bellwire.user_entry.is_active is 'False: deactivated.';
grant usage on type bellwire.user_entry to bellwire_definer;

reset role;

-- Replaced by functions with another signature, whose files are applied after this.
set local role bellwire_definer;
drop function if exists bellwire.track(
  regclass, text, text, text, text, text, boolean, text, text, jsonb, text, boolean);
drop function if exists bellwire.forget_table(regclass, text);
drop function if exists bellwire.drop_tracked_function(name);
drop function if exists bellwire.drop_tracked_table(regclass);
drop function if exists bellwire.remember_table(regclass, text, jsonb);
drop function if exists bellwire.tracked_body(regclass, text, text, text, text, text);
drop function if exists bellwire.tracked_query(text, text, text, text, text, text, text);
drop function if exists bellwire.key_expression(regclass);
drop function if exists bellwire.try_tracked_query(regclass, text, text, text, text, text);
drop function if exists bellwire.register_resources(text, text, bellwire.resource_entry[]);
reset role;

-- Its function went with the lines above; a database that is new has no such note.
do $$
begin
  if to_regclass('bellwire.applied_files') is not null then
    delete from bellwire.applied_files where path = 'functions/track/drop_tracked_function.sql';
  end if;
end
$$;
