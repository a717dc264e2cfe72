-- The SQL expression that gives a row's key as text: the one that was passed, or its primary key, the parts of a compound
-- one joined by commas. Where two parts might hold a comma of their own it is written %2C, so that no two keys look alike.
-- A key too long for the registry is cut and told apart by its hash.
-- Called by: tracked_columns() and generate_tracking().
-- Errors: 22023 for a table without a primary key whose rows are to be registered.
create or replace function bellwire.key_expression(table_name regclass, type text, given_key text)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  max_characters constant integer := 255;
  plain_types constant regtype[] := '{smallint,integer,bigint,uuid,boolean,date,oid}';
  parts text[];
  texts bigint;
  expression text;
begin
  if given_key is not null then
    return given_key;
  end if;
  select array_agg(format('%I::text', attribute.attname) order by key.position),
    count(*) filter (where attribute.atttypid <> all (plain_types::oid[]))
  into parts, texts
  from pg_catalog.pg_index as index
  cross join lateral unnest(index.indkey) with ordinality as key(attnum, position)
  join pg_catalog.pg_attribute as attribute on attribute.attrelid = index.indrelid and attribute.attnum = key.attnum
  where index.indrelid = table_name and index.indisprimary and key.position <= index.indnkeyatts;
  if parts is null and type is null then
    return 'null';
  elsif parts is null then
    raise exception 'table % has no primary key', table_name
      using errcode = '22023', hint = 'Give it one, or pass key => ''expression'' that is unique.';
  end if;
  if texts > 1 then
    select array_agg(format('replace(replace(%s, ''%%'', ''%%25''), '','', ''%%2C'')', part.text) order by part.position)
    into parts
    from unnest(parts) with ordinality as part(text, position);
  end if;
  expression := array_to_string(parts, ' || '','' || ');
  if texts = 0 then
    return expression;
  end if;
  return format(
    'case when length(%1$s) > %2$s then left(%1$s, %3$s) || ''~'' || md5(%1$s) else %1$s end',
    expression, max_characters, max_characters - length(md5('')) - 1);
end
$$;

comment on function bellwire.key_expression(regclass, text, text) is 'SQL expression of the primary key as text.';

revoke all on function bellwire.key_expression(regclass, text, text) from public;
grant execute on function bellwire.key_expression(regclass, text, text) to bellwire_admin;
