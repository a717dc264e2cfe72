-- Trigger function: a document's parent is a document of the same archive, not itself and none of its own
-- descendants. The walk and the update run under a lock on the archive, so that moves in one archive take turns and
-- two opposite moves at once cannot both pass. (That the parent is in the same archive is a foreign key.)
-- Called by: trigger _200_guard_move on suite.logs, before insert or update of parent_id or archive_id.
-- Errors: 22023 with detail bad_parent; 22023 in a REPEATABLE READ transaction.
-- Source: reference 000, section 2, "log.move".
create or replace function suite.guard_move()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  if new.parent_id is null then
    return new;
  end if;
  -- A new document is nobody's ancestor; only a move can close a circle.
  if tg_op = 'UPDATE' then
    if current_setting('transaction_isolation') = 'repeatable read' then
      raise exception 'documents are not moved in a REPEATABLE READ transaction'
        using errcode = '22023', hint = 'It would not see a move that was made meanwhile; use READ COMMITTED or SERIALIZABLE.';
    end if;
    perform from suite.archives as archive where archive.id = new.archive_id for no key update;
  end if;
  if not exists (
    select from suite.logs as parent where parent.id = new.parent_id and parent.archive_id = new.archive_id
  ) then
    raise exception 'the parent is not a document of this archive'
      using errcode = '22023', detail = 'bad_parent', hint = 'Choose a document of the same archive, or none.';
  end if;
  if exists (
    with recursive ancestors as (
      select log.id, log.parent_id from suite.logs as log where log.id = new.parent_id
      union
      select log.id, log.parent_id
      from ancestors
      join suite.logs as log on log.id = ancestors.parent_id and log.archive_id = new.archive_id
    )
    select from ancestors where ancestors.id = new.id
  ) then
    raise exception 'a document cannot be moved into itself or below itself'
      using errcode = '22023', detail = 'bad_parent', hint = 'Move the other document out of it first.';
  end if;
  return new;
end
$$;

comment on function suite.guard_move() is 'Refuses a parent that is elsewhere, the document itself, or below it.';

revoke all on function suite.guard_move() from public;
grant execute on function suite.guard_move() to bellwire_owner;
