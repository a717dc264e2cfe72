-- What requests pass through: limits that all servers share, and the search for people.
set local role bellwire_owner;

create table identity.rate_limits (
  key_digest text not null,
  bucket text not null,
  attempt_count integer not null,
  ends_at timestamptz not null,
  constraint rate_limits_pkey primary key (key_digest),
  constraint rate_limits_key_digest_form check (key_digest ~ '^[0-9a-f]{64}$'),
  constraint rate_limits_bucket_length check (char_length(bucket) between 1 and 63),
  constraint rate_limits_attempt_count_positive check (attempt_count > 0)
)
-- Room on the page for the next count, so that counting touches no index.
with (fillfactor = 70);
comment on table identity.rate_limits is
  'How often a client has tried what is limited, in the window that runs. Written by take_attempt() alone.';
comment on column identity.rate_limits.key_digest is
  'SHA-256 of bucket and key. The key is an address or a network, which is nowhere else.';
comment on column identity.rate_limits.bucket is 'What was tried: credentials, people.';
comment on column identity.rate_limits.attempt_count is 'Attempts in this window.';
comment on column identity.rate_limits.ends_at is 'When the window ends; then the row may go.';

create index rate_limits_end on identity.rate_limits (ends_at);
comment on index identity.rate_limits_end is 'Serves take_attempt() and prune(): windows that have ended.';

create index users_name_prefix on bellwire.users ((lower(name) collate "C"));
comment on index bellwire.users_name_prefix is 'Serves search_people(): names that begin like this.';
create index users_email_prefix on bellwire.users ((lower(email) collate "C"));
comment on index bellwire.users_email_prefix is 'Serves search_people(): addresses that begin like this.';

reset role;
