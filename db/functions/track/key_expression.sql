-- The SQL expression that gives a row's key as text: its primary key, the parts of a compound one joined by commas.
-- Called by: track().
-- Errors: 22023 for a table without a primary key.
create or replace function bellwire.key_expression(table_name regclass)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  columns text[];
begin
  select array_agg(format('%I::text', attribute.attname) order by key.position)
  into columns
  from pg_catalog.pg_index as index
  cross join lateral unnest(index.indkey) with ordinality as key(attnum, position)
  join pg_catalog.pg_attribute as attribute on attribute.attrelid = index.indrelid and attribute.attnum = key.attnum
  where index.indrelid = table_name and index.indisprimary;
  if columns is null then
    raise exception 'table % has no primary key', table_name
      using errcode = '22023', hint = 'Give one, or pass key => ''expression'' that is unique and never changes.';
  end if;
  return array_to_string(columns, ' || '','' || ');
end
$$;

comment on function bellwire.key_expression(regclass) is 'SQL expression of the primary key as text.';

revoke all on function bellwire.key_expression(regclass) from public;
grant execute on function bellwire.key_expression(regclass) to bellwire_admin;
