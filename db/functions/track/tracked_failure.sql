-- The exception block of a generated function. What the block had done is undone, so the registry is brought in step once
-- more, alone: an expression of an action that fails must not cost a row its place. Then the failure is noted, with the
-- rows of the statement: the registry's ids in subject_ids, the first keys in front of the context.
-- Called by: tracked_body().
-- Errors: none. (What it makes raises those of is_outage().)
create or replace function bellwire.tracked_failure(
  table_name regclass,
  operation text,
  type text,
  key text,
  registry_step text
)
returns text
language sql
immutable
set search_path = ''
as $$
  select format(
    E'exception when others then\n'
    '  get stacked diagnostics bellwire_state = returned_sqlstate, bellwire_message = message_text,\n'
    '    bellwire_context = pg_exception_context;\n'
    '  if bellwire.is_outage(bellwire_state) then\n    raise;\n  end if;\n'
    '  begin\n%5$s  exception when others then\n    null; -- the first failure is the one to be told of\n  end;\n'
    '  begin\n'
    '    select array_agg(known.id) filter (where known.id is not null), string_agg(entry.ref, '', '')\n'
    '    into bellwire_subject_ids, bellwire_refs\n'
    '    from (select (%4$s)::text as ref from %2$s as bellwire_row limit 20) as entry\n'
    '    left join bellwire.resources as known on known.type = %3$L and known.ref = entry.ref;\n'
    '  exception when others then\n    null;\n  end;\n'
    '  perform bellwire.fail_rule(%1$L, bellwire_subject_ids, bellwire_state, bellwire_message,\n'
    '    concat(''rows '' || bellwire_refs || chr(10), bellwire_context));\n'
    '  return null;\n',
    left('track ' || table_name, 63),
    case operation when 'delete' then 'before_table' else 'after_table' end,
    type,
    key,
    registry_step)
$$;

comment on function bellwire.tracked_failure(regclass, text, text, text, text) is
  'Source of the exception block of a generated function.';

revoke all on function bellwire.tracked_failure(regclass, text, text, text, text) from public;
grant execute on function bellwire.tracked_failure(regclass, text, text, text, text) to bellwire_admin;
