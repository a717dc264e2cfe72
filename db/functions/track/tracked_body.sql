-- The body of the trigger function of one operation of a tracked table: keeps the registry in step, makes the drafts,
-- hands them to record_activity(). What fails in it, an expression of the administrator included, is noted in
-- rule_failures; the statement of the application stands.
-- Called by: track().
-- Errors: none.
create or replace function bellwire.tracked_body(
  table_name regclass,
  operation text,
  type text,
  parent_type text,
  row_columns text,
  draft_list text
)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  query constant text := bellwire.tracked_query(
    operation, type, parent_type, row_columns, draft_list, '',
    E'  into bellwire_drafts, bellwire_is_new_to_registry\n') || E';\n';
  register constant text := format(
    E'  perform bellwire.register_resources(%L, %L, array(\n'
    '    select row(bellwire_ref, bellwire_parent_ref, bellwire_workspace_id, bellwire_title, bellwire_owner_id)\n'
    '      ::bellwire.resource_entry\n'
    '    from (%s after_table as bellwire_row) as entry));\n',
    type, parent_type, row_columns);
  steps text := query;
begin
  if type is not null and operation = 'insert' then
    steps := register || query;
  elsif type is not null and operation = 'update' then
    -- Mostly nothing that the registry knows has changed. Where it has, the drafts are made again from what it says now.
    steps := E'  for bellwire_pass in 1 .. 2 loop\n' || query
      || E'  exit when not bellwire_is_new_to_registry or bellwire_pass = 2;\n' || register || E'  end loop;\n';
  end if;
  steps := steps || E'  if bellwire_drafts is not null then\n'
    '    perform bellwire.record_activity(bellwire_drafts);\n  end if;\n';
  if type is not null and operation = 'delete' then
    steps := steps || format(
      E'  update bellwire.resources as resource set deleted_at = now()\n'
      '  where resource.type = %L\n'
      '    and resource.ref in (select bellwire_ref from (%s before_table as bellwire_row) as entry);\n',
      type, row_columns);
  end if;

  return format(
    E'#variable_conflict use_column\ndeclare\n'
    '  bellwire_actor_id constant bigint := bellwire.current_user_id();\n'
    '  bellwire_drafts bellwire.activity_draft[];\n'
    '  bellwire_is_new_to_registry boolean;\n'
    '  bellwire_state text;\n'
    '  bellwire_message text;\n'
    '  bellwire_context text;\n'
    'begin\n%s'
    '  return null;\n'
    'exception when others then\n'
    '  if bellwire.is_outage(sqlstate) then raise; end if;\n'
    '  get stacked diagnostics bellwire_state = returned_sqlstate, bellwire_message = message_text,\n'
    '    bellwire_context = pg_exception_context;\n'
    '  perform bellwire.fail_rule(%L, null, bellwire_state, bellwire_message, bellwire_context);\n'
    '  return null;\n'
    'end',
    steps, left('track ' || table_name, 63));
end
$$;

comment on function bellwire.tracked_body(regclass, text, text, text, text, text) is
  'Source of the trigger function of one operation of a tracked table.';

revoke all on function bellwire.tracked_body(regclass, text, text, text, text, text) from public;
grant execute on function bellwire.tracked_body(regclass, text, text, text, text, text) to bellwire_admin;
