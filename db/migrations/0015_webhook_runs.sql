-- A claim takes several deliveries of a subscription in a row, and many outcomes are written in one call.
set local role bellwire_definer;
drop function if exists bellwire.claim_webhooks(uuid, integer);
drop function if exists bellwire.finish_webhook(bigint, uuid, text, integer, text, integer);
drop function if exists bellwire.renew_webhook_lease(bigint, uuid);
reset role;

set local role bellwire_owner;

alter table bellwire.webhook_subscriptions add last_claimed_id bigint;
comment on column bellwire.webhook_subscriptions.last_claimed_id is
  'The last delivery of the newest claim. While its lease is live, nothing else of the subscription is claimed.';

-- The claim changes no indexed column: with room on the page its row version costs no index entry.
alter table bellwire.webhook_deliveries set (fillfactor = 70);
alter table bellwire.webhook_subscriptions set (fillfactor = 50);

reset role;
