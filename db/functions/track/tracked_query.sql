-- The one query a tracked statement runs: changed rows in, activity drafts out, and for an update a word on them: 0 nothing
-- that the registry knows has changed, 1 something has, 2 a key has. One query for all actions, because starting a query
-- costs more than running it; no look-up in the registry that no action asks for.
-- A row before and after an update are paired by their place: Postgres writes both transition tables in one go, and the
-- key may be what has changed. A full join, because that is never a nested loop: a plan kept from an update of one row
-- compared each of ten thousand rows with each other (27 s, now 0.2 s). Of one row there is nothing to pair, and most
-- statements change one: for_one_row makes the query that does only that, and looks at nothing where there are more
-- (60 µs less of 150).
-- Called by: tracked_body(), and try_tracked_query() to try the expressions out.
-- Errors: none.
-- Returns: text of a query for: the drafts; for an update also the word, and how many rows it looked at, drafts times.
create or replace function bellwire.tracked_query(
  operation text,
  type text,
  parent_type text,
  row_columns text,
  drafts text,
  given_tables text,
  into_clause text,
  for_one_row boolean
)
returns text
language plpgsql
immutable
set search_path = ''
as $$
declare
  numbered constant text :=
    '(select row_number() over () as bellwire_number, bellwire_rows.* from (%s %s as bellwire_row) as bellwire_rows) as %s';
  -- With a limit it is looked up row by row, whatever the plan was made for. As a join, a plan kept from a statement over
  -- thousands of rows read all of the type for one row ever after (27 ms for an insert beside 50,000 rows, now 0.2 ms).
  lookup constant text :=
    E'\n  left join lateral (select resource.* from bellwire.resources as resource'
    '\n    where resource.type = %L and resource.ref = %s limit 1) as %s on true';
  row_alias constant text := case operation when 'delete' then 'old' else 'new' end;
  changes text := '0';
  sources text;
  compared_columns text;
begin
  if operation = 'update' then
    sources := case when for_one_row then format(
        '(%1$s after_table as bellwire_row) as new cross join (%1$s before_table as bellwire_row) as old', row_columns)
      else format(numbered, row_columns, 'after_table', 'new') || E'\n    full join '
        || format(numbered, row_columns, 'before_table', 'old') || E'\n      on old.bellwire_number = new.bellwire_number'
      end;
    -- What is not given, or the same for every row, cannot change; each comparison costs two microseconds.
    select string_agg(format('new.%1$s is distinct from old.%1$s', compared.name), ' or ')
    into compared_columns
    from unnest(array['bellwire_parent_ref', 'bellwire_workspace_id', 'bellwire_title', 'bellwire_owner_id']) as compared(name)
    where row_columns !~ ('\((null|[0-9]+)\)::\w+ as ' || compared.name);
    changes := 'case when new.bellwire_ref is distinct from old.bellwire_ref then 2'
      || coalesce(' when ' || compared_columns || ' then 1', '') || ' else 0 end';
  else
    sources := format(
      '(%s %s as bellwire_row) as %s', row_columns, case operation when 'insert' then 'after_table' else 'before_table' end,
      row_alias);
  end if;
  if drafts ~ '\mself\.' then
    sources := sources || format(lookup, type, row_alias || '.bellwire_ref', 'self');
  end if;
  if drafts ~ '\mabove\.' then
    sources := sources || format(lookup, parent_type, row_alias || '.bellwire_parent_ref', 'above');
  end if;
  return given_tables || E'select array_agg(entry) filter (where (entry).action is not null)'
    || case when operation = 'update' then ', max(change), count(*)' else '' end
    || E'\n' || into_clause || E'  from (\n    select unnest(array[\n      ' || coalesce(drafts, 'null')
    || E'\n    ]::bellwire.activity_draft[]) as entry, ' || changes || E' as change\n    from ' || sources
    || case when for_one_row then
      E'\n    where (select count(*) from (select from after_table limit 2) as few) = 1' else '' end
    || E') as drafted';
end
$$;

comment on function bellwire.tracked_query(text, text, text, text, text, text, text, boolean) is
  'SQL that turns the changed rows of a tracked table into activity drafts.';

revoke all on function bellwire.tracked_query(text, text, text, text, text, text, text, boolean) from public;
grant execute on function bellwire.tracked_query(text, text, text, text, text, text, text, boolean) to bellwire_admin;
