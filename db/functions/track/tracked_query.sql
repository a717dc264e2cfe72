-- The one query a tracked statement runs: changed rows in, activity drafts out, and, for an update, whether anything the
-- registry knows has changed. One query for all actions, because starting a query costs more than running it.
-- Called by: tracked_body(), and track() to try the expressions out.
-- Errors: none.
create or replace function bellwire.tracked_query(
  operation text,
  type text,
  parent_type text,
  row_columns text,
  draft_list text,
  given_tables text,
  into_clause text
)
returns text
language plpgsql
immutable
set search_path = ''
as $$
declare
  row_alias constant text := case operation when 'delete' then 'old' else 'new' end;
  after_cte constant text := 'after_rows as (' || row_columns || 'after_table as bellwire_row)';
  before_cte constant text := 'before_rows as (' || row_columns || 'before_table as bellwire_row)';
begin
  return format(
    E'  with %s%s\n'
    '  select array_agg(entry) filter (where entry.action is not null), %s\n'
    '%s  from %s\n'
    '  left join bellwire.resources as self on self.type = %6$L and self.ref = %8$s.bellwire_ref\n'
    '  left join bellwire.resources as above on above.type = %7$L and above.ref = %8$s.bellwire_parent_ref\n'
    '  cross join lateral unnest(array[\n      %9$s\n    ]::bellwire.activity_draft[]) as entry',
    given_tables,
    case operation when 'insert' then after_cte when 'delete' then before_cte else after_cte || ', ' || before_cte end,
    case when type is not null and operation = 'update' then
      'coalesce(bool_or('
      '(new.bellwire_parent_ref, new.bellwire_workspace_id, new.bellwire_title, new.bellwire_owner_id)'
      ' is distinct from '
      '(old.bellwire_parent_ref, old.bellwire_workspace_id, old.bellwire_title, old.bellwire_owner_id)), false)'
    else 'false' end,
    into_clause,
    case operation
      when 'insert' then 'after_rows as new'
      when 'delete' then 'before_rows as old'
      else 'after_rows as new left join before_rows as old on old.bellwire_ref = new.bellwire_ref'
    end,
    type,
    parent_type,
    row_alias,
    coalesce(draft_list, 'null'));
end
$$;

comment on function bellwire.tracked_query(text, text, text, text, text, text, text) is
  'SQL that turns the changed rows of a tracked table into activity drafts.';

revoke all on function bellwire.tracked_query(text, text, text, text, text, text, text) from public;
grant execute on function bellwire.tracked_query(text, text, text, text, text, text, text) to bellwire_admin;
