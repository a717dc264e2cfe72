-- Trigger function: the activity log is append-only for everyone, its owner included. Row security already gives no
-- role an UPDATE; this also stops a superuser's slip.
-- Called by: trigger _000_append_only on bellwire.activity_log.
-- Errors: 42501 always.
create or replace function bellwire.refuse_update()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  raise exception '% is append-only', tg_table_name
    using errcode = '42501', hint = 'Record a new activity that corrects the old one.';
end
$$;

comment on function bellwire.refuse_update() is 'Refuses an UPDATE or TRUNCATE of an append-only table.';

revoke all on function bellwire.refuse_update() from public;
grant execute on function bellwire.refuse_update() to bellwire_owner;
