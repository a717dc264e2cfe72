-- The two triggers that no transition table serves: TRUNCATE, and the partition that is attached later. Postgres copies
-- a row trigger to every new partition; on those that are followed it is switched off, so that it costs nothing there.
-- Called by: generate_tracking(), generate_members() and generate_users().
-- Errors: 42501 for who does not own the partitions.
create or replace function bellwire.attach_table_guards(table_name regclass, trigger_prefix text, of_call text, of_type text)
returns void
language plpgsql
set search_path = ''
as $$
declare
  is_partitioned constant boolean := (select relkind = 'p' from pg_catalog.pg_class where oid = table_name);
  member regclass;
begin
  if is_partitioned and not exists (
    select from pg_catalog.pg_trigger where tgrelid = table_name and tgname = trigger_prefix || 'partition')
  then
    execute format(
      'create trigger %I after insert or update or delete on %s for each row execute function bellwire.note_new_partition()',
      trigger_prefix || 'partition', table_name);
  end if;
  for member in select family.member from bellwire.table_family(table_name) as family(member) loop
    if of_type is not null and not exists (
      select from pg_catalog.pg_trigger where tgrelid = member and tgname = trigger_prefix || 'truncate')
    then
      execute format(
        'create trigger %I after truncate on %s for each statement execute function bellwire.follow_truncate(%L, %L)',
        trigger_prefix || 'truncate', member, of_call, of_type);
    end if;
    if is_partitioned and exists (
      select from pg_catalog.pg_trigger as trigger
      join pg_catalog.pg_class as class on class.oid = trigger.tgrelid and class.relkind = 'r'
      where trigger.tgrelid = member and trigger.tgname = trigger_prefix || 'partition' and trigger.tgenabled <> 'D')
    then
      execute format('alter table only %s disable trigger %I', member, trigger_prefix || 'partition');
    end if;
  end loop;
end
$$;

comment on function bellwire.attach_table_guards(regclass, text, text, text) is
  'Creates the triggers that follow TRUNCATE and notice a new partition.';

revoke all on function bellwire.attach_table_guards(regclass, text, text, text) from public;
grant execute on function bellwire.attach_table_guards(regclass, text, text, text) to bellwire_admin;
