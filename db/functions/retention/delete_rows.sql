-- Deletes rows that the caller has locked; together, and where that fails one by one, so that a row that something else
-- holds fast (a foreign key or a trigger of the host) does not keep the others.
-- Called by: prune_batch(), as bellwire_definer.
-- Errors: only the server's own troubles; rows that cannot go are counted as refused and noted in rule_failures, all of a
-- batch in one row: the last reason, and their keys.
create or replace function bellwire.delete_rows(
  table_name regclass,
  key_column text,
  places tid[],
  out deleted bigint,
  out refused bigint
)
language plpgsql
set search_path = ''
as $$
declare
  command constant text := format('delete from %s where ctid = any ($1)', table_name);
  place tid;
  gone bigint;
  state text;
  message text;
  key text;
  keys text[];
begin
  begin
    execute command using places;
    get diagnostics deleted = row_count;
    set constraints all immediate;
  exception when others then
    get stacked diagnostics state = returned_sqlstate;
    if state ~ '^(40|53|55|57|58)' then
      raise; -- the server's trouble, not the row's
    end if;
    deleted := 0;
    foreach place in array places loop
      begin
        execute command using array[place];
        get diagnostics gone = row_count;
        set constraints all immediate;
        deleted := deleted + gone;
      exception when others then
        get stacked diagnostics state = returned_sqlstate, message = message_text;
        execute format('select %I from %s where ctid = $1', key_column, table_name) into key using place;
        keys := keys || key;
      end;
    end loop;
    if message is not null then
      perform bellwire.fail_rule(
        'prune', null, state, message, format('%s: %s %s', table_name, key_column, array_to_string(keys, ', ')));
    end if;
  end;
  refused := cardinality(places) - deleted;
end
$$;

comment on function bellwire.delete_rows(regclass, text, tid[]) is
  'Deletes the rows at these places, as far as they can be deleted; returns how many went and how many did not.';

revoke all on function bellwire.delete_rows(regclass, text, tid[]) from public;
