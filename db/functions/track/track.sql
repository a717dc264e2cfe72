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
  after_cte text;
  before_cte text;
  entry_columns constant text := 'bellwire_ref, bellwire_parent_ref, bellwire_workspace_id, bellwire_title, bellwire_owner_id';
  base_name text;
  draft_list text;
  draft_query text;
  register_call text;
  changed_rows text;
  row_alias text;
  body text;
  operation text;
  place text;
  entries bellwire.resource_entry[];
  existing refcursor;
begin
  if table_name is null or jsonb_typeof(actions) is distinct from 'array' then
    raise exception 'track() needs a table and an array of actions'
      using errcode = '22023', hint = 'Pass actions => ''[]'' for none.';
  end if;
  if type !~ '^[a-z][a-z0-9_]{0,62}$' then
    raise exception 'a type is a lower-case word, not %', type
      using errcode = '22023', hint = 'Letters, digits and _, at most 63, for example work_order.';
  end if;
  if parent is not null then
    select parsed.type, parsed.expression into parent_type, parent_expression from bellwire.parse_parent(parent) as parsed;
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
  after_cte := 'after_rows as (' || row_columns || 'after_table as bellwire_row)';
  before_cte := 'before_rows as (' || row_columns || 'before_table as bellwire_row)';
  base_name := left(coalesce(type, replace(table_name::text, '.', '_')), 50);

  foreach operation in array array['insert', 'update', 'delete'] loop
    -- An entry without a known "on" is shown to the first round, which refuses it.
    select string_agg(
      bellwire.action_draft(table_name, entry.value, type, parent_type, title, mentions),
      E',\n      ' order by entry.number)
    into draft_list
    from jsonb_array_elements(actions) with ordinality as entry(value, number)
    where entry.value ->> 'on' is not distinct from operation
      or operation = 'insert' and coalesce(entry.value ->> 'on', '') not in ('insert', 'update', 'delete');
    continue when type is null and draft_list is null;

    changed_rows := case operation when 'delete' then 'before_rows as old' else 'after_rows as new' end;
    row_alias := case operation when 'delete' then 'old' else 'new' end;
    draft_query := format(
      E'  with %s\n  select array_agg(entry) filter (where entry.action is not null), %s\n'
      '  into bellwire_drafts, bellwire_is_new_to_registry\n  from %s\n%s%s'
      '  cross join lateral unnest(array[\n      %s\n    ]::bellwire.activity_draft[]) as entry;\n',
      case operation when 'insert' then after_cte when 'delete' then before_cte else after_cte || ', ' || before_cte end,
      case when type is not null and operation = 'update' then
        'coalesce(bool_or((new.bellwire_parent_ref, new.bellwire_workspace_id, new.bellwire_title, new.bellwire_owner_id)'
        ' is distinct from'
        ' (old.bellwire_parent_ref, old.bellwire_workspace_id, old.bellwire_title, old.bellwire_owner_id)), false)'
      else 'false' end,
      changed_rows,
      case when operation = 'update' then E'  left join before_rows as old on old.bellwire_ref = new.bellwire_ref\n' else '' end,
      format(
        E'  left join bellwire.resources as self on self.type = %1$L and self.ref = %3$s.bellwire_ref\n'
        '  left join bellwire.resources as above on above.type = %2$L and above.ref = %3$s.bellwire_parent_ref\n',
        type, parent_type, row_alias),
      coalesce(draft_list, 'null'));

    body := E'#variable_conflict use_column\ndeclare\n'
      '  bellwire_actor_id constant bigint := bellwire.current_user_id();\n'
      '  bellwire_drafts bellwire.activity_draft[];\n'
      '  bellwire_is_new_to_registry boolean;\nbegin\n';
    register_call := format(
      E'perform bellwire.register_resources(%L, %L, array(\n    with %s\n'
      '    select row(%s)::bellwire.resource_entry from after_rows));\n',
      type, parent_type, after_cte, entry_columns);
    if operation = 'insert' then
      body := body || case when type is not null then '  ' || register_call else '' end || draft_query;
    elsif operation = 'update' then
      -- Mostly nothing that the registry knows has changed. Where it has, the drafts are made again from what it says now.
      body := body || E'  for bellwire_pass in 1 .. 2 loop\n' || draft_query
        || E'  exit when not bellwire_is_new_to_registry or bellwire_pass = 2;\n  ' || register_call || E'  end loop;\n';
    else
      body := body || draft_query;
    end if;
    body := body || E'  if bellwire_drafts is not null then\n'
      '    perform bellwire.record_activity(bellwire_drafts);\n  end if;\n';
    if type is not null and operation = 'delete' then
      body := body || format(
        E'  update bellwire.resources as resource set deleted_at = now()\n'
        '  where resource.type = %L and resource.ref in (with %s select bellwire_ref from before_rows);\n',
        type, before_cte);
    end if;

    perform bellwire.install_tracked_function(base_name || '_' || operation, body || E'  return null;\nend');
    place := case operation
      when 'insert' then 'new table as after_table'
      when 'delete' then 'old table as before_table'
      else 'old table as before_table new table as after_table'
    end;
    execute format(
      'create trigger %I after %s on %s referencing %s for each statement execute function bellwire_tracked.%I()',
      'bellwire_track_' || operation, operation, table_name, place, base_name || '_' || operation);
  end loop;

  if type is not null then
    open existing for execute format(
      'select %s from (%s %s as bellwire_row) as registered', entry_columns, row_columns, table_name);
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
