-- Makes the help desk watchable. Run once, by a bellwire_admin who owns the tables; nothing in the help desk changes.

-- Its people, by their own keys.
select bellwire.track_users('helpdesk.users',
  name => 'display_name', email => 'email', avatar_url => 'avatar', active => 'not is_disabled');

-- One workspace for all of it, made in the name of a supervisor. Supervisors own it, the other agents are members;
-- customers are not: they are never told anything.
select bellwire.act_as_external(user_id::text) from helpdesk.agents where is_supervisor limit 1;
select id from api.create_workspace('Help desk');
select bellwire.act_as(null);
select bellwire.track_members('helpdesk.agents',
  scope => 'workspace:' || (select id from bellwire.workspaces where name = 'Help desk'),
  member => 'bellwire.user_id(user_id::text)',
  role => 'case when is_supervisor then ''owner'' else ''member'' end');

-- What people may be told of …
insert into bellwire.notification_kinds (kind, description, email_by_default, title_template) values
  ('ticket_assigned', 'A ticket was given to you', true, '{actor} gave you “{title}”'),
  ('ticket_reply', 'Somebody replied on a ticket you watch', false, '{actor} {verb} “{title}”'),
  ('my_ticket_reply', 'Somebody replied on a ticket that is yours', true, '{actor} {verb} your ticket “{title}”'),
  ('ticket_solved', 'A ticket you watch was solved or opened again', false, '{actor} {verb} “{title}”');

-- … and what sets it off.
insert into bellwire.action_rules
  (action, verb, emits, auto_watch, target, watcher_kind, owner_kind, named_kind)
values
  ('ticket.open', 'opened', true, null, 'self', null, null, 'mention'),
  ('ticket.assign', 'assigned', true, null, 'self', null, null, 'ticket_assigned'),
  ('ticket.solve', 'solved', true, null, 'self', 'ticket_solved', 'ticket_solved', 'mention'),
  ('ticket.reopen', 'reopened', true, null, 'self', 'ticket_solved', 'ticket_solved', 'mention'),
  ('ticket.reply', 'replied on', true, 'auto_reply', 'parent', 'ticket_reply', 'my_ticket_reply', 'mention');

-- A team has members of its own, and what is in it is read by them alone.
select bellwire.track('helpdesk.teams', 'team',
  workspace => (select id::text from bellwire.workspaces where name = 'Help desk'),
  title => 'name', is_scope => true, is_watchable => false);
select bellwire.track_members('helpdesk.team_agents', scope => 'team:team_id',
  member => 'bellwire.user_id(user_id::text)', role => 'case when is_lead then ''lead'' else ''member'' end');

-- A ticket is in its team; in triage it is in the workspace.
select bellwire.track('helpdesk.tickets', 'ticket',
  parent => 'team:team_id', workspace => (select id::text from bellwire.workspaces where name = 'Help desk'),
  title => 'subject', owner => 'bellwire.user_id(assignee_id::text)', link_template => '/tickets/{ref}',
  actor => 'bellwire.user_id(current_setting(''helpdesk.user_id'', true))',
  actions => '[
    {"on": "insert", "action": "ticket.open"},
    {"on": "update", "of": ["assignee_id"], "when": "new.assignee_id is not null", "action": "ticket.assign",
     "names": "array[bellwire.user_id(new.assignee_id::text)]"},
    {"on": "update", "of": ["status"], "when": "new.status = ''solved''", "action": "ticket.solve"},
    {"on": "update", "of": ["status"], "when": "old.status = ''solved''", "action": "ticket.reopen"}
  ]');

-- The author of a reply is who acts; a mention is <span data-type="mention" data-id="their uuid">.
select bellwire.track('helpdesk.replies', 'reply',
  parent => 'ticket:ticket_id', is_watchable => false, link_template => '/tickets/{parent_ref}#reply-{ref}',
  actions => '[
    {"on": "insert", "action": "ticket.reply", "actor": "bellwire.user_id(new.author_id::text)",
     "metadata": {"excerpt": "bellwire.plain_text(new.body_html, 280)"},
     "names": "bellwire.mentioned_users(new.body_html, null)"}
  ]');
