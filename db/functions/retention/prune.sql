-- Deletes the first batch of everything that is past its retention, in one transaction: by hand, where no worker runs.
-- Call it again while anything was deleted. The worker takes prune_batch(), a transaction each.
-- Called by: bellwire_admin, bellwire_worker.
-- Errors: 22023 for a count below 1.
-- Source: reference 000, section 2b "Prune"; DESIGN, "Retention".
create or replace function bellwire.prune(max_count integer)
returns table (what text, deleted bigint, refused bigint)
language plpgsql
security definer
set search_path = ''
as $$
begin
  for what in select retention.what from bellwire.retentions() as retention loop
    select batch.deleted, batch.refused into deleted, refused
    from bellwire.prune_batch(what, max_count) as batch;
    return next;
  end loop;
end
$$;

comment on function bellwire.prune(integer) is 'Deletes at most so many rows of each thing that are past their retention.';

revoke all on function bellwire.prune(integer) from public;
grant execute on function bellwire.prune(integer) to bellwire_worker, bellwire_admin;
