-- Makes and attaches the three trigger functions of a table that is mirrored: people or members. Each is given its steps;
-- what fails in them is noted in rule_failures, and the application's statement stands.
-- Called by: generate_members() and generate_users().
-- Errors: 42601 and friends when an expression does not parse; 42501 without the rights.
create or replace function bellwire.generate_mirror(
  table_name regclass,
  of_call text,
  of_type text,
  insert_step text,
  update_step text,
  delete_step text
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  -- Triggers fire by name, and a table of people may be one of members too: the person comes first.
  trigger_prefix constant text := case of_call when 'users' then 'bellwire_100_users_' else 'bellwire_members_' end;
  operation text;
  function_name text;
  made text[] := '{follow_truncate,note_new_partition}';
begin
  perform bellwire.refuse_untrackable(table_name, of_call);
  foreach operation in array array['insert', 'update', 'delete'] loop
    function_name := format('%s_%s_%s', bellwire.tracked_name(table_name, null), of_call, operation);
    perform bellwire.install_tracked_function(
      function_name,
      format(
        E'#variable_conflict use_column\n'
        'declare\n  bellwire_state text;\n  bellwire_message text;\n  bellwire_context text;\n'
        'begin\n%s  return null;\nexception when others then\n'
        '  get stacked diagnostics bellwire_state = returned_sqlstate, bellwire_message = message_text,\n'
        '    bellwire_context = pg_exception_context;\n'
        '  perform bellwire.fail_rule(%L, null, bellwire_state, bellwire_message, bellwire_context);\n  return null;\nend',
        case operation when 'insert' then insert_step when 'update' then update_step else delete_step end,
        left(format('track_%s %s', of_call, table_name), 63)),
      current_user);
    perform bellwire.attach_tracked_function(table_name, trigger_prefix, operation, function_name);
    made := made || function_name;
  end loop;
  perform bellwire.forget_table(table_name, trigger_prefix, made);
  perform bellwire.attach_table_guards(table_name, trigger_prefix, of_call, of_type);
  perform bellwire.drop_unused_functions();
end
$$;

comment on function bellwire.generate_mirror(regclass, text, text, text, text, text) is
  'Makes the functions and triggers of a mirrored table.';

revoke all on function bellwire.generate_mirror(regclass, text, text, text, text, text) from public;
grant execute on function bellwire.generate_mirror(regclass, text, text, text, text, text) to bellwire_admin;
