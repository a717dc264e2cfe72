-- The rules are called with what record_activity() has looked up once, instead of being triggers that each look it up
-- again: starting a query costs more than running it, and half of a ruled write was that.
drop trigger if exists _100_emit_webhooks on bellwire.activity_log;
drop trigger if exists _200_auto_watch on bellwire.activity_log;
drop trigger if exists _300_fan_out on bellwire.activity_log;
drop trigger if exists _100_queue_email on bellwire.notifications;
drop trigger if exists _200_wake_push on bellwire.notifications;
drop trigger if exists _200_wake_push_update on bellwire.notifications;
drop function if exists bellwire.emit_webhooks();
drop function if exists bellwire.auto_watch();
drop function if exists bellwire.fan_out();
drop function if exists bellwire.tell_or_queue(bellwire.fan_out_event[]);
drop function if exists bellwire.tell_people(bellwire.fan_out_event, bigint, bigint, boolean);
drop function if exists bellwire.queue_email();
drop function if exists bellwire.wake(text);
drop function if exists bellwire.record_activity(bellwire.activity_draft[]);

set local role bellwire_owner;

create type bellwire.rule_event as (
  activity_id bigint,
  action text,
  actor_id bigint,
  workspace_id bigint,
  scope_id bigint,
  excerpt text,
  named_ids bigint[],
  title text,
  emits boolean,
  auto_watch text,
  verb text,
  watcher_kind text,
  owner_kind text,
  named_kind text,
  target_id bigint,
  target_title text,
  owner_id bigint,
  audience bigint[],
  link_path text
);
comment on type bellwire.rule_event is
  'One thing that happened, with what the rules need to know of it. Without an activity it was not recorded (it '
  'coalesced), and only the people it names are told. Queued as jsonb when the worker tells the people.';
comment on column bellwire.rule_event.title is 'Of the resource it happened to.';
comment on column bellwire.rule_event.target_id is 'Whose watchers and owner are meant: the resource, or its parent.';
comment on column bellwire.rule_event.owner_id is 'Of the target.';
comment on column bellwire.rule_event.audience is 'From the workspace down to the target: a watch on any of them covers it.';
comment on column bellwire.rule_event.activity_id is 'The entry in activity_log; null when it coalesced.';
comment on column bellwire.rule_event.action is 'What happened.';
comment on column bellwire.rule_event.actor_id is 'Who did it; null for the system.';
comment on column bellwire.rule_event.workspace_id is 'Tenant.';
comment on column bellwire.rule_event.scope_id is 'The scope whose members may be told.';
comment on column bellwire.rule_event.excerpt is 'What a template may quote: metadata.excerpt.';
comment on column bellwire.rule_event.named_ids is 'People the event itself names.';
comment on column bellwire.rule_event.emits is 'Webhooks are sent for it.';
comment on column bellwire.rule_event.auto_watch is 'Source of the watch the actor gets; null for none.';
comment on column bellwire.rule_event.verb is 'For the title: “updated”.';
comment on column bellwire.rule_event.watcher_kind is 'What watchers are told; null for nothing.';
comment on column bellwire.rule_event.owner_kind is 'What the owner of the target is told; null for nothing.';
comment on column bellwire.rule_event.named_kind is 'What the people it names are told.';
comment on column bellwire.rule_event.target_title is 'For the title of what people are told.';
comment on column bellwire.rule_event.link_path is 'Where a notification leads.';
grant usage on type bellwire.rule_event to bellwire_definer;

-- What waits in the queue is told as it would have been. (Row security is forced on owners, too: it would hide the rows.)
alter table bellwire.fan_out_queue no force row level security;
alter table bellwire.action_rules no force row level security;
alter table bellwire.resources no force row level security;
alter table bellwire.memberships no force row level security;
update bellwire.fan_out_queue as queue
set event = queue.event - 'names_only' - 'resource_id' - 'metadata' || jsonb_build_object(
  'excerpt', queue.event #>> '{metadata,excerpt}',
  'title', subject.title,
  'verb', rule.verb,
  'watcher_kind', case when not (queue.event ->> 'names_only')::boolean then rule.watcher_kind end,
  'owner_kind', case when not (queue.event ->> 'names_only')::boolean then rule.owner_kind end,
  'named_kind', rule.named_kind,
  'target_id', target.id,
  'target_title', target.title,
  'owner_id', target.owner_id,
  'audience', target.ancestors || target.id,
  'link_path', subject.link_path)
from bellwire.action_rules as rule
cross join bellwire.resources as subject
join bellwire.resources as target
  on target.id = case rule.target when 'parent' then subject.parent_id else subject.id end
where rule.action = queue.event ->> 'action' and subject.id = (queue.event ->> 'resource_id')::bigint;
comment on column bellwire.fan_out_queue.event is 'A bellwire.rule_event.';

drop type bellwire.fan_out_event;

-- Registry rows go only with their workspace, and sweep_workspaces() takes the entries along. The check of this key took a
-- fifth of an UPDATE of ten thousand tracked rows.
alter table bellwire.activity_log drop constraint activity_log_resource_fkey;

-- record_activity() and emit_webhooks() give the ids, so that what belongs together is known before it is written.
grant usage on sequence bellwire.activity_log_id_seq, bellwire.webhook_events_id_seq to bellwire_definer;

-- What a policy compares is the key of a scope; kept here, it costs no look-up of the registry per statement.
alter table bellwire.memberships add scope_type text, add scope_ref text;
update bellwire.memberships as membership
set scope_type = scope.type, scope_ref = scope.ref
from bellwire.resources as scope
where scope.id = membership.scope_id;
alter table bellwire.fan_out_queue force row level security;
alter table bellwire.action_rules force row level security;
alter table bellwire.resources force row level security;
alter table bellwire.memberships force row level security;
alter table bellwire.memberships
  alter scope_type set not null,
  alter scope_ref set not null,
  add constraint memberships_scope_type_length check (char_length(scope_type) <= 63),
  add constraint memberships_scope_ref_length check (char_length(scope_ref) between 1 and 255);
comment on column bellwire.memberships.scope_type is 'Type of the scope, as in resources.';
comment on column bellwire.memberships.scope_ref is 'Key of the scope in the application, as in resources.';

drop index bellwire.notifications_window;
create index notifications_window
  on bellwire.notifications (hashint8extended(user_id, resource_id), (created_at at time zone 'utc') desc)
  where resource_id is not null;
comment on index bellwire.notifications_window is
  'Serves the 60-second window of write_notifications(). A hashed key and a time in UTC, so that no plan can take the '
  'inbox index for it: a busy watcher has thousands of rows of the last minute in there, and a plan kept from an empty '
  'table read them all for each person.';

create index users_deactivated on bellwire.users (id) where deactivated_at is not null;
comment on index bellwire.users_deactivated is
  'Serves write_notifications(): who of those to be told is gone, mostly nobody, without a look at each.';

-- notification_draft says whose workspace it is and whether the kind is mailed: its callers know both.
alter type bellwire.notification_draft add attribute root_id bigint, add attribute email_by_default boolean;

comment on column bellwire.activity_draft.action is 'What happened.';
comment on column bellwire.activity_draft.actor_id is 'Who did it; null for the system.';
comment on column bellwire.activity_draft.workspace_id is 'Tenant; without one nothing is recorded.';
comment on column bellwire.activity_draft.scope_id is 'Whose members may read of it.';
comment on column bellwire.activity_draft.resource_id is 'What it happened to.';
comment on column bellwire.activity_draft.metadata is 'Whatever the action says; 8 KiB are kept.';
comment on column bellwire.activity_draft.named_ids is 'People the event itself names.';
comment on column bellwire.activity_draft.is_recorded is 'False: only the people it names are told.';
comment on column bellwire.notification_draft.user_ids is 'Who is concerned; the writer decides who of them is told.';
comment on column bellwire.notification_draft.kind is 'What they are told.';
comment on column bellwire.notification_draft.actor_id is 'Who did it, and is not told.';
comment on column bellwire.notification_draft.workspace_id is 'Tenant.';
comment on column bellwire.notification_draft.scope_id is 'When set, only who reads it is told.';
comment on column bellwire.notification_draft.resource_id is 'What it is about; null: nothing to count up.';
comment on column bellwire.notification_draft.activity_id is 'The entry it tells of.';
comment on column bellwire.notification_draft.title is 'Made plain text and cut at 255.';
comment on column bellwire.notification_draft.body is 'Made plain text and cut at 2000.';
comment on column bellwire.notification_draft.link_path is 'Where it leads.';
comment on column bellwire.notification_draft.metadata is 'For the application.';
comment on column bellwire.notification_draft.source_key is 'Once per person; a retry is a no-op.';
comment on column bellwire.notification_draft.root_id is 'The scope of the workspace.';
comment on column bellwire.notification_draft.email_by_default is 'Whether the kind is mailed to who has no preference.';

reset role;
