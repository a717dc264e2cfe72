-- Marks registry rows as deleted whose rows are gone without a trace: while the table was not tracked, or with a partition.
-- Called by: register_rows().
-- Errors: none.
create or replace function bellwire.mark_deleted(of_type text, refs text[])
returns void
language sql
security definer
set search_path = ''
as $$
  update bellwire.resources as resource set deleted_at = now()
  where resource.type = of_type and resource.ref = any (refs) and resource.deleted_at is null
$$;

comment on function bellwire.mark_deleted(text, text[]) is 'Sets deleted_at of registry rows.';

revoke all on function bellwire.mark_deleted(text, text[]) from public;
grant execute on function bellwire.mark_deleted(text, text[]) to bellwire_admin;
