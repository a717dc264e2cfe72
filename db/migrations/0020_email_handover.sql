-- From when on nobody but the worker itself knows whether an e-mail was sent: see hand_over_email().
set local role bellwire_owner;

alter table bellwire.email_outbox add column handed_over_at timestamptz;
comment on column bellwire.email_outbox.handed_over_at is
  'When the mail server began to take what the last attempt sent. Null: it has not.';

reset role;
