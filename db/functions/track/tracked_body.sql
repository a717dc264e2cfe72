-- The body of the trigger function of one operation of a tracked table: keeps the registry in step, makes the drafts,
-- hands them to record_activity(). What fails in it, an expression of the administrator included, is noted in
-- rule_failures; the statement of the application stands, and the registry is brought in step all the same.
-- Called by: generate_tracking().
-- Errors: none.
create or replace function bellwire.tracked_body(
  table_name regclass,
  operation text,
  type text,
  parent_type text,
  row_columns text,
  key text,
  drafts text,
  actor text
)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  into_clause constant text := E'  into bellwire_drafts'
    || case operation when 'update' then E', bellwire_change, bellwire_count\n' else E'\n' end;
  query text := '  '
    || bellwire.tracked_query(operation, type, parent_type, row_columns, drafts, '', into_clause, false) || E';\n';
  step constant text := bellwire.registry_step(operation, type, parent_type, row_columns);
  steps text := '';
begin
  if operation = 'update' then
    query := '  ' || bellwire.tracked_query(operation, type, parent_type, row_columns, drafts, '', into_clause, true)
      || E';\n  if bellwire_count = 0 then\n' || query || E'  end if;\n';
  end if;
  if operation = 'update' and step is not null then
    -- Mostly nothing that the registry knows has changed. Where it has, the drafts are made again from what it says now.
    steps := E'  for bellwire_pass in 1 .. 2 loop\n' || query
      || E'  exit when coalesce(bellwire_change, 0) = 0 or bellwire_pass = 2;\n' || step
      || E'  if not bellwire_is_paired then\n    bellwire_drafts := null;\n    exit;\n  end if;\n  end loop;\n';
  else
    steps := case when operation = 'insert' then coalesce(step, '') else '' end
      || case when drafts is not null then query else '' end;
  end if;
  if drafts is not null then
    steps := steps || E'  if bellwire_drafts is not null then\n'
      -- Assigned, because PERFORM would plan and run a query to call it.
      '    bellwire_count := bellwire.record_activity(bellwire_drafts);\n  end if;\n';
  end if;
  if operation = 'delete' then
    steps := steps || coalesce(step, '');
  end if;

  return E'#variable_conflict use_column\ndeclare\n'
    '  bellwire_actor_id bigint;\n'
    '  bellwire_drafts bellwire.activity_draft[];\n'
    '  bellwire_change integer := 2; -- taken for the worst where the query fails\n'
    '  bellwire_is_paired boolean := true;\n'
    '  bellwire_count bigint;\n'
    '  bellwire_state text;\n'
    '  bellwire_message text;\n'
    '  bellwire_context text;\n'
    '  bellwire_refs text;\n'
    '  bellwire_subject_ids bigint[];\n'
    'begin\n'
    -- Not where it is declared: what fails there no exception block catches.
    '  bellwire_actor_id := coalesce(bellwire.current_user_id(),\n'
    '    case when current_setting(''request.jwt.claims'', true) <> '''' then bellwire.external_actor_id() end'
    || coalesce(E',\n    (' || actor || ')::bigint', '') || E');\n'
    || steps || E'  return null;\n'
    || bellwire.tracked_failure(table_name, operation, type, key, step)
    || 'end';
end
$$;

comment on function bellwire.tracked_body(regclass, text, text, text, text, text, text, text) is
  'Source of the trigger function of one operation of a tracked table.';

revoke all on function bellwire.tracked_body(regclass, text, text, text, text, text, text, text) from public;
grant execute on function bellwire.tracked_body(regclass, text, text, text, text, text, text, text) to bellwire_admin;
