-- Makes a table watchable. From now on every INSERT, UPDATE and DELETE keeps the registry in step and records the given
-- actions, in the transaction of the change, however it comes: an application, COPY, a psql prompt. Rows that are there
-- already are registered without activity. Calling it again replaces what it was called with.
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
--   workspace     expression of the workspace's id, for what has no parent
--   is_scope      it has members (see track_members())
--   key           expression of the key, default the primary key; must not change
--   link_template path in your application, with {ref} and {parent_ref}
--   actions       see action_draft()
-- Called by: bellwire_admin with the TRIGGER right on the table, or its owner.
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
  is_watchable boolean default true
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  backfill_rows constant integer := 5000; -- registered at a time when tracking begins
  parent_type text;
  parent_expression text := 'null';
  row_columns text;
  draft_list text;
  function_name text;
  operation text;
  entries bellwire.resource_entry[];
  existing refcursor;
begin
  if table_name is null or jsonb_typeof(actions) is distinct from 'array' then
    raise exception 'track() needs a table and an array of actions'
      using errcode = '22023', hint = 'Pass actions => ''[]'' for none.';
  end if;
  if type !~ '^[a-z][a-z0-9_]{0,47}$' then
    raise exception 'a type is a lower-case word, not %', type
      using errcode = '22023', hint = 'Letters, digits and _, at most 48, for example work_order.';
  end if;
  if parent is not null then
    select parsed.type, parsed.expression
    into parent_type, parent_expression
    from bellwire.parse_parent(parent, type) as parsed;
  end if;
  perform bellwire.forget_table(table_name, 'bellwire_track_');
  perform bellwire.drop_tracked_table(table_name);
  perform bellwire.remember_table(
    table_name, type,
    jsonb_build_object(
      'parent', parent, 'title', title, 'owner', owner, 'workspace', workspace, 'is_scope', is_scope, 'key', key,
      'mentions', mentions, 'actions', actions, 'link_template', link_template, 'is_watchable', is_watchable));

  row_columns := format(
    'select bellwire_row.*, (%s)::text as bellwire_ref, (%s)::text as bellwire_parent_ref, '
    '(%s)::bigint as bellwire_workspace_id, (%s)::text as bellwire_title, (%s)::bigint as bellwire_owner_id from ',
    coalesce(key, bellwire.key_expression(table_name)), parent_expression, coalesce(workspace, 'null'),
    coalesce(title, 'null'), coalesce(owner, 'null'));

  foreach operation in array array['insert', 'update', 'delete'] loop
    -- An entry without a known "on" is shown to the first round, which refuses it.
    select string_agg(
      bellwire.action_draft(table_name, entry.value, type, parent_type, title, mentions),
      E',\n      ' order by entry.number)
    into draft_list
    from jsonb_array_elements(actions) with ordinality as entry(value, number)
    where coalesce(nullif(entry.value ->> 'on', ''), 'none') = operation
      or operation = 'insert' and coalesce(entry.value ->> 'on', '') not in ('insert', 'update', 'delete');
    continue when type is null and draft_list is null;

    perform bellwire.try_tracked_query(table_name, operation, type, parent_type, row_columns, draft_list);
    function_name := bellwire.tracked_name(table_name, type) || '_' || operation;
    perform bellwire.install_tracked_function(
      function_name,
      bellwire.tracked_body(table_name, operation, type, parent_type, row_columns, draft_list),
      current_user);
    perform bellwire.attach_tracked_function(table_name, 'bellwire_track_', operation, function_name);
  end loop;

  if type is not null then
    open existing for execute format(
      'select bellwire_ref, bellwire_parent_ref, bellwire_workspace_id, bellwire_title, bellwire_owner_id '
      'from (%s %s as bellwire_row) as registered',
      row_columns, table_name);
    loop
      entries := bellwire.fetch_entries(existing, backfill_rows);
      exit when entries is null;
      perform bellwire.register_resources(type, parent_type, entries);
    end loop;
    close existing;
  end if;
end
$$;

comment on function bellwire.track(
  regclass, text, text, text, text, text, boolean, text, text, jsonb, text, boolean
) is 'Makes a table watchable: registry, activity, notifications and webhooks follow from its changes.';

revoke all on function bellwire.track(
  regclass, text, text, text, text, text, boolean, text, text, jsonb, text, boolean
) from public;
grant execute on function bellwire.track(
  regclass, text, text, text, text, text, boolean, text, text, jsonb, text, boolean
) to bellwire_admin;
