-- Deletes one batch of one thing that is past its retention: a transaction of its own, so that nothing is locked for long
-- and a stop costs one batch. Rows that somebody else has locked are passed over; so are, by way of next, those that
-- refuse to go, and what is behind them is reached all the same.
-- Called by: bellwire_worker, from a cron task; prune().
-- Errors: 22023 for what is not in retentions() and for a count below 1.
-- Returns: how many went, how many could not, and where to go on; next is null when there is nothing more.
-- Source: reference 000, section 2b "Prune"; DESIGN, "Retention".
create or replace function bellwire.prune_batch(
  what text,
  max_count integer,
  after jsonb default null,
  out deleted bigint,
  out refused bigint,
  out next jsonb
)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  retention record;
  batch record;
begin
  if max_count is null or max_count < 1 then
    raise exception 'a batch has at least one row'
      using errcode = '22023', hint = 'Pass a count such as 1000.';
  end if;
  select known.*, now() - make_interval(days => coalesce(setting.value::integer, 0)) as before
  into retention
  from bellwire.retentions() as known
  left join bellwire.settings as setting on setting.name = known.setting
  where known.what = what;
  if not found then
    raise exception 'retention knows no %', coalesce(what, 'null')
      using errcode = '22023', hint = 'select what from bellwire.retentions()';
  end if;

  if retention.is_by_time then
    batch := bellwire.old_rows_by_time(
      retention.table_name, retention.at_column, retention.key_column, retention.condition, retention.before, max_count, after);
  else
    batch := bellwire.old_rows_by_key(
      retention.table_name, retention.at_column, retention.key_column, retention.condition, retention.before, max_count, after);
  end if;
  next := batch.next;
  select gone.deleted, gone.refused into deleted, refused
  from bellwire.delete_rows(retention.table_name, retention.key_column, batch.places) as gone;
end
$$;

comment on function bellwire.prune_batch(text, integer, jsonb) is
  'Deletes at most so many rows of one thing that are past their retention; next is where to go on, null at the end.';

revoke all on function bellwire.prune_batch(text, integer, jsonb) from public;
grant execute on function bellwire.prune_batch(text, integer, jsonb) to bellwire_worker;
