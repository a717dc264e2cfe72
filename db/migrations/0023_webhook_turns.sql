-- A run ends where address or secret of its subscription changed since its claim, and who was claimed longest ago is next.
set local role bellwire_owner;

alter table bellwire.webhook_subscriptions
  add column claimed_at timestamptz,
  add column changed_at timestamptz;
comment on column bellwire.webhook_subscriptions.claimed_at is
  'When a run of it was last claimed; the one that has waited longest is next. Null: never.';
comment on column bellwire.webhook_subscriptions.changed_at is
  'When its address or secret last changed. A run that was claimed before has the old ones and ends with what is in flight.';

comment on column bellwire.webhook_deliveries.position is
  'Gapless per subscription, given at the first claim; a receiver sees a gap where one was dead-lettered. A test has none.';

comment on column bellwire.webhook_details.actor_name is 'Their name. Null: the account is gone.';

reset role;
