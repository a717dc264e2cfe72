-- Notes what a rule could not do. Called from the exception block of a rule, so the change that set it off stands.
-- Called by: the rules, as bellwire_definer.
-- Errors: none of its own.
create or replace function bellwire.fail_rule(rule text, subject_ids bigint[], state text, message text, context text)
returns void
language sql
set search_path = ''
as $$
  insert into bellwire.rule_failures (rule, subject_ids, sqlstate, message, context)
  values (rule, subject_ids, state, left(message, 2000), left(context, 4000))
$$;

comment on function bellwire.fail_rule(text, bigint[], text, text, text) is 'Writes one row to rule_failures.';

revoke all on function bellwire.fail_rule(text, bigint[], text, text, text) from public;
