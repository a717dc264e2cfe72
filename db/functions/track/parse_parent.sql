-- Splits 'archive:archive_id' into the parent's type and the SQL expression that gives its key.
-- Called by: tracked_columns(), generate_tracking() and track_members().
-- Errors: 22023 for another form or an unknown type.
create or replace function bellwire.parse_parent(parent text, own_type text, out type text, out expression text)
language plpgsql
stable
set search_path = ''
as $$
begin
  if parent is null then
    return;
  end if;
  type := split_part(parent, ':', 1);
  expression := substr(parent, length(type) + 2);
  if type !~ '^[a-z][a-z0-9_]*$' or expression = '' then
    raise exception 'a parent is written type:expression, for example archive:archive_id, not %', parent
      using errcode = '22023', hint = 'The type is what the parent''s table is tracked as.';
  end if;
  -- A tree of one type is its own parent.
  if type is distinct from own_type
    and not exists (select from bellwire.resource_types as known where known.type = parse_parent.type)
  then
    raise exception 'no table is tracked as %', type
      using errcode = '22023', hint = 'Track the parent''s table first.';
  end if;
end
$$;

comment on function bellwire.parse_parent(text, text) is 'type:expression of a parent, in two.';

revoke all on function bellwire.parse_parent(text, text) from public;
grant execute on function bellwire.parse_parent(text, text) to bellwire_admin;
