-- Push cursors: what a client that was away has missed is found by transaction, and the functions answer with more.
set local role bellwire_definer;

drop function if exists bellwire.push_tail(text);
drop function if exists bellwire.missed_notifications(bigint, text, integer);

set local role bellwire_owner;

create index notifications_missed on bellwire.notifications (user_id, xid);
comment on index bellwire.notifications_missed is 'Serves missed_notifications().';

create index notifications_unread on bellwire.notifications (user_id, workspace_id, scope_id)
  where read_at is null and deleted_at is null;
comment on index bellwire.notifications_unread is 'Serves the unread counts: api.unread_count() and unread_of().';

reset role;
