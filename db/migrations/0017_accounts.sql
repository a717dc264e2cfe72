-- Accounts: invitations, forgotten passwords, second factors, and sessions that are replaced when a credential changes.

-- Their results change; they are made anew by their files.
set local role bellwire_definer;
drop function if exists identity.authenticate(text);
drop function if exists identity.close_session(text);
reset role;

set local role bellwire_owner;

-- In a database that is in use row security is forced, and no policy lets the owner write.
alter table bellwire.settings no force row level security;
alter table bellwire.settings
  drop constraint settings_value_positive,
  add constraint settings_value_positive check (value > 0 or unit = 'switch' and value = 0);
comment on column bellwire.settings.value is 'Whole and above zero, a switch 0 or 1; in force with the next statement.';
insert into bellwire.settings (name, value, unit, description) values
  ('open_sign_up', 0, 'switch', '1: anybody with a mailbox may create an account; 0: by invitation only'),
  ('invitation_hours', 168, 'hours', 'How long an invitation can be accepted'),
  ('invitations_a_day', 100, 'mails', 'What one person may send; a renewal is one more'),
  ('invitation_retention_days', 30, 'days', 'An invitation, counted from its end'),
  ('password_reset_minutes', 60, 'minutes', 'How long the link of a forgotten password works'),
  ('account_mail_seconds', 60, 'seconds', 'The shortest time between two mails that somebody who is not signed in can set off'),
  ('email_change_minutes', 15, 'minutes', 'How long the code for another e-mail address works'),
  ('sign_in_step_minutes', 10, 'minutes', 'How long a sign-in waits for the second factor'),
  ('code_attempts', 5, 'attempts', 'Wrong codes after which a sign-in or a change of address begins again'),
  ('second_factor_attempts', 10, 'attempts', 'Wrong codes of one account after which none is looked at for a while'),
  ('second_factor_pause_minutes', 15, 'minutes', 'The while: from the first of the wrong codes on');
alter table bellwire.settings force row level security;

comment on column bellwire.users.is_admin is
  'Runs the installation: invites to it, deactivates accounts, administers every webhook subscription. It opens no workspace.';

alter table identity.sessions no force row level security;
alter table identity.sessions
  add column id bigint generated always as identity,
  add column signed_in_at timestamptz not null default now(),
  add column rotated_from text,
  add constraint sessions_id_key unique (id),
  add constraint sessions_rotated_from_form check (rotated_from ~ '^[0-9a-f]{64}$');
update identity.sessions set signed_in_at = created_at;
alter table identity.sessions force row level security;
comment on column identity.sessions.id is 'What the person names it by when they end it; the digest stays with the server.';
comment on column identity.sessions.signed_in_at is
  'When the person proved who they are; a session that replaces another keeps it.';
comment on column identity.sessions.rotated_from is
  'The digest of the session it replaced, so that a sign-out of that one reaches it. Null: a sign-in of its own.';
create index sessions_rotated_from on identity.sessions (rotated_from) where rotated_from is not null;
comment on index identity.sessions_rotated_from is 'Serves close_session().';

create table identity.invitations (
  id bigint generated always as identity,
  email text not null,
  workspace_id bigint,
  role text,
  squad_id bigint,
  squad_role text,
  token_digest text not null,
  invited_by bigint,
  sent_count integer not null default 1,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  revoked_at timestamptz,
  constraint invitations_pkey primary key (id),
  constraint invitations_token_digest_key unique (token_digest),
  constraint invitations_workspace_fkey foreign key (workspace_id) references bellwire.workspaces (id) on delete cascade,
  constraint invitations_squad_fkey foreign key (squad_id, workspace_id)
    references suite.squads (id, workspace_id) on delete set null (squad_id),
  constraint invitations_invited_by_fkey foreign key (invited_by) references bellwire.users (id) on delete cascade,
  constraint invitations_email_form check (char_length(email) between 3 and 320 and email like '%_@_%'),
  constraint invitations_role_known check (role in ('owner', 'admin', 'member', 'guest')),
  constraint invitations_role_of_workspace check ((workspace_id is null) = (role is null)),
  constraint invitations_squad_role_known check (squad_role in ('owner', 'lead', 'member', 'guest')),
  constraint invitations_token_digest_form check (token_digest ~ '^[0-9a-f]{64}$')
);
comment on table identity.invitations is
  'By e-mail address, to the installation or to a workspace as well. Only the SHA-256 digest of the token is stored.';
comment on column identity.invitations.id is 'The key.';
comment on column identity.invitations.email is 'Who is meant. Only an account with this address can accept.';
comment on column identity.invitations.workspace_id is 'The workspace they will belong to. Null: none, an account only.';
comment on column identity.invitations.role is 'Their role in it.';
comment on column identity.invitations.squad_id is 'A squad they will belong to as well. Null: none, or it is gone.';
comment on column identity.invitations.squad_role is 'Their role in it.';
comment on column identity.invitations.token_digest is 'SHA-256 of the token in the link.';
comment on column identity.invitations.invited_by is
  'By whom; it holds as long as this person could still invite. Null: they asked for it themselves, where sign-up is open.';
comment on column identity.invitations.sent_count is 'How often it was sent; inviting again renews it.';
comment on column identity.invitations.created_at is 'When it was made or last renewed.';
comment on column identity.invitations.expires_at is 'From when on it cannot be accepted.';
comment on column identity.invitations.accepted_at is 'When it was accepted. Null: not yet.';
comment on column identity.invitations.revoked_at is 'When it was taken back. Null: it was not.';
create unique index invitations_open
  on identity.invitations (lower(email), coalesce(workspace_id, 0), (invited_by is null))
  where accepted_at is null and revoked_at is null;
comment on index identity.invitations_open is
  'One open invitation per address and workspace, and one that the address asked for itself.';
create index invitations_workspace on identity.invitations (workspace_id, id);
comment on index identity.invitations_workspace is 'Serves list_invitations(), and the cascade when a workspace is purged.';
create index invitations_squad on identity.invitations (squad_id) where squad_id is not null;
comment on index identity.invitations_squad is 'Serves the deletion of a squad.';
create index invitations_invited_by on identity.invitations (invited_by, created_at);
comment on index identity.invitations_invited_by is 'Serves the limit of a day, and the cascade when a user is removed.';
create index invitations_expiry on identity.invitations (expires_at, id);
comment on index identity.invitations_expiry is 'Serves prune_batch().';

create table identity.password_resets (
  user_id bigint not null,
  token_digest text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint password_resets_pkey primary key (user_id),
  constraint password_resets_token_digest_key unique (token_digest),
  constraint password_resets_user_fkey foreign key (user_id) references bellwire.users (id) on delete cascade,
  constraint password_resets_token_digest_form check (token_digest ~ '^[0-9a-f]{64}$')
);
comment on table identity.password_resets is 'The one link per person that sets a new password; gone once used.';
comment on column identity.password_resets.user_id is 'Whose password.';
comment on column identity.password_resets.token_digest is 'SHA-256 of the token in the link.';
comment on column identity.password_resets.created_at is 'When it was asked for.';
comment on column identity.password_resets.expires_at is 'From when on the link does nothing.';
create index password_resets_expiry on identity.password_resets (expires_at, user_id);
comment on index identity.password_resets_expiry is 'Serves prune_batch().';

create table identity.email_changes (
  user_id bigint not null,
  new_email text not null,
  code_digest text not null,
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint email_changes_pkey primary key (user_id),
  constraint email_changes_user_fkey foreign key (user_id) references bellwire.users (id) on delete cascade,
  constraint email_changes_new_email_form check (char_length(new_email) between 3 and 320 and new_email like '%_@_%'),
  constraint email_changes_code_digest_form check (code_digest ~ '^[0-9a-f]{64}$')
);
comment on table identity.email_changes is
  'Another address that a person without a password asked for, until they have typed the code sent to the present one.';
comment on column identity.email_changes.user_id is 'Whose address.';
comment on column identity.email_changes.new_email is 'What it is to become.';
comment on column identity.email_changes.code_digest is
  'SHA-256 of the code together with a random token that only the client has: a code alone could be found by trying.';
comment on column identity.email_changes.attempts is 'How many wrong codes there were.';
comment on column identity.email_changes.created_at is 'When it was asked for.';
comment on column identity.email_changes.expires_at is 'From when on the code does nothing.';
create index email_changes_expiry on identity.email_changes (expires_at, user_id);
comment on index identity.email_changes_expiry is 'Serves prune_batch().';

create table identity.second_factors (
  user_id bigint not null,
  secret text not null,
  last_step bigint,
  wrong_count integer not null default 0,
  wrong_until timestamptz,
  created_at timestamptz not null default now(),
  enabled_at timestamptz,
  constraint second_factors_pkey primary key (user_id),
  constraint second_factors_user_fkey foreign key (user_id) references bellwire.users (id) on delete cascade,
  constraint second_factors_secret_length check (char_length(secret) between 16 and 500)
);
comment on table identity.second_factors is 'The secret a person shares with their authenticator app (RFC 6238).';
comment on column identity.second_factors.user_id is 'Whose.';
comment on column identity.second_factors.secret is 'Base32, sealed where SECRETS_KEY is set.';
comment on column identity.second_factors.last_step is 'The last time step of which a code was taken: each works once. Null: none yet.';
comment on column identity.second_factors.wrong_count is 'Wrong codes since the last right one, within the pause.';
comment on column identity.second_factors.wrong_until is 'When these are forgotten. Null: there were none.';
comment on column identity.second_factors.created_at is 'When the secret was made.';
comment on column identity.second_factors.enabled_at is 'When its first code was shown. Null: not yet, and sign-in does not ask for one.';

create table identity.recovery_codes (
  user_id bigint not null,
  code_digest text not null,
  constraint recovery_codes_pkey primary key (user_id, code_digest),
  constraint recovery_codes_user_fkey foreign key (user_id) references bellwire.users (id) on delete cascade,
  constraint recovery_codes_code_digest_form check (code_digest ~ '^[0-9a-f]{64}$')
);
comment on table identity.recovery_codes is 'Codes that stand in for a lost authenticator, once each: a used one is gone.';
comment on column identity.recovery_codes.user_id is 'Whose.';
comment on column identity.recovery_codes.code_digest is 'SHA-256 of the code, which has 80 random bits.';

create table identity.sign_in_steps (
  token_digest text not null,
  user_id bigint not null,
  attempts integer not null default 0,
  expires_at timestamptz not null,
  constraint sign_in_steps_pkey primary key (token_digest),
  constraint sign_in_steps_user_fkey foreign key (user_id) references bellwire.users (id) on delete cascade,
  constraint sign_in_steps_token_digest_form check (token_digest ~ '^[0-9a-f]{64}$')
);
comment on table identity.sign_in_steps is 'Sign-ins with the right password that wait for the second factor.';
comment on column identity.sign_in_steps.token_digest is 'SHA-256 of the token that the second step sends.';
comment on column identity.sign_in_steps.user_id is 'Who signs in.';
comment on column identity.sign_in_steps.attempts is 'How many wrong codes there were.';
comment on column identity.sign_in_steps.expires_at is 'From when on it begins with the password again.';
create index sign_in_steps_user on identity.sign_in_steps (user_id);
comment on index identity.sign_in_steps_user is 'Serves end_sign_ins().';
create index sign_in_steps_expiry on identity.sign_in_steps (expires_at, token_digest);
comment on index identity.sign_in_steps_expiry is 'Serves prune_batch().';

reset role;
