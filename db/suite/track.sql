-- What makes the suite watchable: nothing but these calls. It is an example of how to build on the engine as much as
-- it is part of the product. A condition that the parent is still there leaves out what only went along: the
-- comments of a deleted document, the members of a deleted squad. (pg_trigger_depth() cannot tell: the triggers of a
-- cascaded delete run at the depth of the statement that set it off.)
select bellwire.track('bellwire.workspaces', 'workspace',
  workspace => 'id', title => 'name', is_scope => true, is_watchable => false, link_template => '/workspaces/{ref}');

select bellwire.track('suite.squads', 'squad',
  parent => 'workspace:workspace_id', title => 'name', owner => 'created_by', is_scope => true, is_watchable => false,
  link_template => '/squads/{ref}');

select bellwire.track_members('suite.workspace_members', scope => 'workspace:workspace_id', member => 'user_id', role => 'role');
select bellwire.track_members('suite.squad_members', scope => 'squad:squad_id', member => 'user_id', role => 'role');

select bellwire.track('suite.squad_members', null,
  parent => 'squad:squad_id', key => 'squad_id || '','' || user_id',
  actions => '[
    {"on": "insert", "action": "squad.member_join", "resource": "parent", "metadata": {"user_id": "new.user_id"}},
    {"on": "delete", "when": "exists (select from suite.squads as squad where squad.id = old.squad_id)",
     "action": "squad.member_leave", "resource": "parent",
     "metadata": {"user_id": "old.user_id"}}
  ]');

select bellwire.track('suite.squad_invitations', null,
  parent => 'squad:squad_id',
  actions => '[
    {"on": "insert", "action": "squad.invite_create", "resource": "parent",
     "metadata": {"user_id": "new.user_id"}, "names": "array[new.user_id]"}
  ]');

select bellwire.track('suite.archives', 'archive',
  parent => 'squad:squad_id', title => 'name', owner => 'created_by', link_template => '/archives/{ref}',
  actions => '[
    {"on": "insert", "action": "archive.create", "metadata": {"title": "new.name"}},
    {"on": "update", "of": ["name"], "action": "archive.rename", "metadata": {"title": "new.name", "previous": "old.name"}},
    {"on": "delete", "action": "archive.delete", "metadata": {"title": "old.name"}}
  ]');

select bellwire.track('suite.logs', 'log',
  parent => 'archive:archive_id', title => 'title', owner => 'created_by', mentions => 'html',
  link_template => '/documents/{ref}',
  actions => '[
    {"on": "insert", "action": "log.create", "metadata": {"title": "new.title", "parent_id": "new.parent_id"}},
    {"on": "update", "of": ["title"], "action": "log.rename",
     "metadata": {"title": "new.title", "previous": "old.title", "parent_id": "new.parent_id"}},
    {"on": "update", "of": ["parent_id"], "action": "log.move",
     "metadata": {"title": "new.title", "parent_id": "new.parent_id", "previous_parent_id": "old.parent_id"}},
    {"on": "update", "of": ["html"], "when": "new.restored_at is not distinct from old.restored_at", "action": "log.update",
     "metadata": {"title": "new.title", "parent_id": "new.parent_id"}},
    {"on": "update", "of": ["restored_at"], "action": "log.restore",
     "metadata": {"title": "new.title", "parent_id": "new.parent_id", "version_id": "new.restored_from_id"},
     "names": "bellwire.mentioned_ids(new.html, old.html)"},
    {"on": "delete", "when": "exists (select from suite.archives as archive where archive.id = old.archive_id)",
     "action": "log.delete", "resource": "parent",
     "metadata": {"log_id": "old.id", "title": "old.title", "parent_id": "old.parent_id"}}
  ]');

select bellwire.track('suite.versions', 'version',
  parent => 'log:log_id', title => 'title', owner => 'created_by', is_watchable => false, link_template => '/documents/{parent_ref}',
  actions => '[
    {"on": "insert", "action": "log.publish", "resource": "parent",
     "metadata": {"title": "new.title", "version_id": "new.id",
                  "parent_id": "(select parent_id from suite.logs where id = new.log_id)"}},
    {"on": "delete", "when": "exists (select from suite.logs as log where log.id = old.log_id)",
     "action": "version.delete",
     "metadata": {"title": "old.title", "log_id": "old.log_id"}}
  ]');

select bellwire.track('suite.comments', 'comment',
  parent => 'log:log_id', owner => 'author_id', mentions => 'body', is_watchable => false,
  link_template => '/documents/{parent_ref}#comment-{ref}',
  actions => '[
    {"on": "insert", "when": "new.parent_id is null", "action": "comment.create",
     "metadata": {"log_id": "new.log_id", "excerpt": "bellwire.plain_text(new.body, 280)"}},
    {"on": "insert", "when": "new.parent_id is not null", "action": "comment.reply",
     "metadata": {"log_id": "new.log_id", "parent_id": "new.parent_id", "excerpt": "bellwire.plain_text(new.body, 280)"}},
    {"on": "update", "of": ["body"], "action": "comment.create", "record": false,
     "metadata": {"log_id": "new.log_id", "excerpt": "bellwire.plain_text(new.body, 280)"}},
    {"on": "update", "of": ["resolved_at"], "when": "new.resolved_at is null", "action": "comment.reopen",
     "metadata": {"log_id": "new.log_id"}},
    {"on": "delete",
     "when": "case when old.parent_id is null then exists (select from suite.logs where id = old.log_id) '
     'else exists (select from suite.comments where id = old.parent_id) end",
     "action": "comment.delete",
     "metadata": {"log_id": "old.log_id"}}
  ]');
