-- Trigger function, per row: a partition that came after its table was tracked. What is written through the parent is
-- followed all the same, what is written into it directly is not, and that must not go unsaid. The application's write
-- stands; once per transaction it leaves a row in rule_failures that says what to do.
-- Called by: trigger bellwire_…_partition, which Postgres copies to each new partition.
-- Errors: none.
create or replace function bellwire.note_new_partition()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  tracked_table constant regclass := pg_partition_root(tg_relid);
  noted constant text := coalesce(current_setting('bellwire.noted_partitions', true), '');
begin
  if position(' ' || tg_relid::text || ' ' in noted) = 0 then
    perform set_config('bellwire.noted_partitions', noted || ' ' || tg_relid::text || ' ', true);
    perform bellwire.fail_rule(
      left('track ' || tracked_table, 63), null, '01000',
      format('partition %s is not followed: what is written into it directly is not noticed', tg_relid::regclass),
      format('select * from bellwire.retrack(%L)', tracked_table));
  end if;
  return null;
end
$$;

comment on function bellwire.note_new_partition() is 'Notes a partition that was attached after its table was tracked.';

revoke all on function bellwire.note_new_partition() from public;
grant execute on function bellwire.note_new_partition() to bellwire_admin;
