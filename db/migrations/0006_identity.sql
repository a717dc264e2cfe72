-- Sign-in.
set local role bellwire_owner;

create table identity.passwords (
  user_id bigint not null,
  password_hash text not null,
  changed_at timestamptz not null default now(),
  constraint passwords_pkey primary key (user_id),
  constraint passwords_user_fkey foreign key (user_id) references bellwire.users (id) on delete cascade,
  constraint passwords_hash_form check (password_hash ~ '^\$argon2id\$' and char_length(password_hash) <= 255)
);
comment on table identity.passwords is
  'argon2id hashes in PHC form, apart from the people so that no column list is needed there.';

create table identity.sessions (
  token_digest text not null,
  user_id bigint not null,
  provider text not null,
  ip text,
  user_agent text,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint sessions_pkey primary key (token_digest),
  constraint sessions_user_fkey foreign key (user_id) references bellwire.users (id) on delete cascade,
  constraint sessions_token_digest_form check (token_digest ~ '^[0-9a-f]{64}$'),
  constraint sessions_provider_length check (char_length(provider) between 1 and 63),
  constraint sessions_ip_length check (char_length(ip) <= 64),
  constraint sessions_user_agent_length check (char_length(user_agent) <= 400)
);
comment on table identity.sessions is 'One row per sign-in. Only the SHA-256 digest of the token is stored.';

create index sessions_user on identity.sessions (user_id);
comment on index identity.sessions_user is 'Serves "sign out everywhere" and deactivation.';
create index sessions_expiry on identity.sessions (expires_at);
comment on index identity.sessions_expiry is 'Serves prune().';

reset role;
