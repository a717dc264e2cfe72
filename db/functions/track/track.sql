-- Makes a table watchable. From now on every INSERT, UPDATE and DELETE keeps the registry in step and records the given
-- actions, in the transaction of the change, however it comes: an application, COPY, a psql prompt. Rows that are there
-- already are registered without activity. Calling it again replaces what it was called with. Partitions and tables that
-- inherit are followed with their parent.
--
--   select bellwire.track('public.tickets', 'ticket',
--     parent => 'project:project_id', title => 'subject', owner => 'reporter_id', mentions => 'body',
--     actions => '[{"on": "insert", "action": "ticket.open"},
--                  {"on": "update", "of": ["status"], "when": "new.status = ''closed''", "action": "ticket.close"}]');
--
-- title, owner, parent, workspace and key are SQL expressions over the row's columns; when, metadata and names of an
-- action may say new.column and old.column. They are part of a function that runs as bellwire_definer with an empty
-- search path: write names of functions and tables with their schema.
-- Arguments:
--   type          what the thing is called; null when only actions on the parent are wanted (a membership table)
--   parent        type:expression of the parent's key
--   workspace     expression of the workspace's id, for what has no parent, or whose parent is not there
--   is_scope      it has members (see track_members())
--   key           expression of the key, default the primary key; a row keeps its watches and history when it changes
--   link_template path in your application, with {ref} and {parent_ref}
--   actions       see action_draft()
--   actor         expression, not over the row, of who acts where no claims say so: a setting of your application
-- Called by: bellwire_admin with the TRIGGER right on the table, or its owner (of partitioned tables its owner).
-- Errors: 22023 with a hint for anything that cannot be generated; 42501 without the rights.
create or replace function bellwire.track(
  table_name regclass,
  type text,
  parent text default null,
  title text default null,
  owner text default null,
  workspace text default null,
  is_scope boolean default false,
  key text default null,
  mentions text default null,
  actions jsonb default '[]',
  link_template text default null,
  is_watchable boolean default true,
  actor text default null
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  arguments constant jsonb := jsonb_build_object(
    'parent', parent, 'title', title, 'owner', owner, 'workspace', workspace, 'is_scope', is_scope, 'key', key,
    'mentions', mentions, 'actions', actions, 'link_template', link_template, 'is_watchable', is_watchable, 'actor', actor);
begin
  if table_name is null or jsonb_typeof(actions) is distinct from 'array' then
    raise exception 'track() needs a table and an array of actions'
      using errcode = '22023', hint = 'Pass actions => ''[]'' for none.';
  end if;
  if type !~ '^[a-z][a-z0-9_]{0,47}$' then
    raise exception 'a type is a lower-case word, not %', type
      using errcode = '22023', hint = 'Letters, digits and _, at most 48, for example work_order.';
  end if;
  perform bellwire.parse_parent(parent, type);
  perform bellwire.remember_table(table_name, 'track', type, arguments);
  perform bellwire.generate_tracking(table_name, type, arguments);
  if type is not null then
    perform bellwire.register_rows(table_name, type, arguments);
  end if;
end
$$;

comment on function bellwire.track(
  regclass, text, text, text, text, text, boolean, text, text, jsonb, text, boolean, text
) is 'Makes a table watchable: registry, activity, notifications and webhooks follow from its changes.';

revoke all on function bellwire.track(
  regclass, text, text, text, text, text, boolean, text, text, jsonb, text, boolean, text
) from public;
grant execute on function bellwire.track(
  regclass, text, text, text, text, text, boolean, text, text, jsonb, text, boolean, text
) to bellwire_admin;
