-- Runs the rules over what has just been recorded: 100 the webhook outbox, 200 auto-watch, 300 the people. What a rule
-- could not do is noted in rule_failures; the entry and what the other rules did stand.
-- Mostly nothing fails, so all share one subtransaction: one for each cost three transaction ids a write, and time. Only
-- after a failure, which undoes all three, each is run again in one of its own.
-- Called by: record_activity(), as bellwire_definer.
-- Errors: those of is_outage(); the cancellation of a statement is not caught either.
-- Returns: how many rules failed.
create or replace function bellwire.apply_rules(events bellwire.rule_event[], is_emitted boolean, is_watched boolean, is_told boolean)
returns integer
language plpgsql
set search_path = ''
as $$
declare
  ignored bigint;
  failed_count integer := 0;
  state text;
  message text;
  context text;
begin
  begin
    -- Assigned, because PERFORM would plan and run a query to call them.
    if is_emitted then
      ignored := bellwire.emit_webhooks(events);
    end if;
    if is_watched then
      ignored := bellwire.auto_watch(events);
    end if;
    if is_told then
      ignored := bellwire.fan_out(events);
    end if;
    return 0;
  exception when others then
    if bellwire.is_outage(sqlstate) then
      raise;
    end if;
    -- Which one it was is found out below.
  end;

  for rule in 1 .. 3 loop
    begin
      if rule = 1 and is_emitted then
        ignored := bellwire.emit_webhooks(events);
      elsif rule = 2 and is_watched then
        ignored := bellwire.auto_watch(events);
      elsif rule = 3 and is_told then
        ignored := bellwire.fan_out(events);
      end if;
    exception when others then
      if bellwire.is_outage(sqlstate) then
        raise;
      end if;
      get stacked diagnostics state = returned_sqlstate, message = message_text, context = pg_exception_context;
      perform bellwire.fail_rule(
        case rule when 1 then 'emit_webhooks' when 2 then 'auto_watch' else 'fan_out' end,
        bellwire.activity_ids(events), state, message, context);
      failed_count := failed_count + 1;
    end;
  end loop;
  return failed_count;
end
$$;

comment on function bellwire.apply_rules(bellwire.rule_event[], boolean, boolean, boolean) is
  'Runs the rules over events, each isolated from the failure of the others; returns how many failed.';

revoke all on function bellwire.apply_rules(bellwire.rule_event[], boolean, boolean, boolean) from public;
