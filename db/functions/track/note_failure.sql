-- Notes what could not be made again; a caller has no right of their own on rule_failures.
-- Called by: retrack().
-- Errors: none of its own.
create or replace function bellwire.note_failure(rule text, state text, message text)
returns void
language sql
security definer
set search_path = ''
as $$
  select bellwire.fail_rule(rule, null, state, message, null)
$$;

comment on function bellwire.note_failure(text, text, text) is 'Writes a row to rule_failures for retrack().';

revoke all on function bellwire.note_failure(text, text, text) from public;
grant execute on function bellwire.note_failure(text, text, text) to bellwire_admin;
