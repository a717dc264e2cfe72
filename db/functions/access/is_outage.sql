-- Whether a failure is the server's trouble (no room on the disk, no memory, a file that cannot be read) and not that of
-- the rule or the row in hand. A rule does not swallow it: a change whose people were never told would be half a change.
-- Called by: the exception blocks of rules and drains, as bellwire_definer.
-- Errors: none.
create or replace function bellwire.is_outage(state text)
returns boolean
language sql
immutable
parallel safe
as $$
  select state ~ '^(53|57|58)'
$$;

comment on function bellwire.is_outage(text) is 'True for the SQLSTATEs of a full disk, no memory and the like.';

revoke all on function bellwire.is_outage(text) from public;
