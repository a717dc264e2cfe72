-- Makes the trigger functions of a tracked table and attaches them to it and to everything below it.
-- Called by: track() and retrack().
-- Errors: 22023 with a hint for anything that cannot be generated; 42501 without the rights.
create or replace function bellwire.generate_tracking(table_name regclass, type text, arguments jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  trigger_prefix constant text := 'bellwire_track_';
  parent_type constant text := (bellwire.parse_parent(arguments ->> 'parent', type)).type;
  key constant text := bellwire.key_expression(table_name, type, arguments ->> 'key');
  row_columns constant text := bellwire.tracked_columns(table_name, type, arguments);
  operation text;
  drafts text;
  function_name text;
  made text[] := '{follow_truncate,note_new_partition}';
begin
  perform bellwire.refuse_untrackable(table_name, 'track');
  foreach operation in array array['insert', 'update', 'delete'] loop
    drafts := bellwire.draft_list(table_name, operation, type, parent_type, arguments);
    continue when type is null and drafts is null;
    perform bellwire.try_tracked_query(table_name, operation, type, parent_type, row_columns, drafts, arguments ->> 'actor');
    function_name := bellwire.tracked_name(table_name, type) || '_' || operation;
    perform bellwire.install_tracked_function(
      function_name,
      bellwire.tracked_body(table_name, operation, type, parent_type, row_columns, key, drafts, arguments ->> 'actor'),
      current_user);
    perform bellwire.attach_tracked_function(table_name, trigger_prefix, operation, function_name);
    made := made || function_name;
  end loop;
  perform bellwire.forget_table(table_name, trigger_prefix, made);
  perform bellwire.attach_table_guards(table_name, trigger_prefix, 'track', type);
  perform bellwire.drop_unused_functions();
end
$$;

comment on function bellwire.generate_tracking(regclass, text, jsonb) is
  'Makes the functions and triggers of a tracked table from the arguments of track().';

revoke all on function bellwire.generate_tracking(regclass, text, jsonb) from public;
grant execute on function bellwire.generate_tracking(regclass, text, jsonb) to bellwire_admin;
