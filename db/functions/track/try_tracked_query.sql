-- Runs the query of a tracked statement over no rows, so that an expression that cannot work is refused by track() and not
-- found out by the application's next write.
-- Called by: generate_tracking().
-- Errors: 22023 with Postgres's own words; 42501 without the right to read the table or to call a function.
create or replace function bellwire.try_tracked_query(
  table_name regclass,
  operation text,
  type text,
  parent_type text,
  row_columns text,
  drafts text,
  actor text
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  no_rows constant text := format('(select * from %s where false)', table_name);
  query constant text := bellwire.tracked_query(
    operation, type, parent_type, row_columns, drafts,
    format('with after_table as %1$s, before_table as %1$s ', no_rows), '', false);
begin
  -- bellwire_actor_id is a variable of the generated function. Without the window Postgres sees that there are no rows,
  -- and does not ask whether the caller may call what only bellwire_definer will.
  execute replace(replace(query, 'bellwire_actor_id', format('(%s)::bigint', coalesce(actor, 'null'))), 'row_number() over ()', '1');
exception
  when insufficient_privilege then
    raise;
  when others then
    raise exception 'an expression for table % does not work: %', table_name, sqlerrm
      using errcode = '22023',
        hint = 'Columns of the row as they are, in actions as new.column and old.column; functions with their schema.';
end
$$;

comment on function bellwire.try_tracked_query(regclass, text, text, text, text, text, text) is
  'Raises when the expressions given to track() cannot be run.';

revoke all on function bellwire.try_tracked_query(regclass, text, text, text, text, text, text) from public;
grant execute on function bellwire.try_tracked_query(regclass, text, text, text, text, text, text) to bellwire_admin;
