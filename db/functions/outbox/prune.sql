-- Deletes one batch of what retention says may go, per table. A batch, so that no table is locked for long; call again
-- while anything was deleted.
-- Called by: bellwire_worker, from a cron task.
-- Errors: none of its own.
-- Source: reference 000, section 2b "Prune"; DESIGN, "Retention".
create or replace function bellwire.prune(max_count integer)
returns table (what text, deleted bigint)
language plpgsql
security definer
set search_path = ''
as $$
declare
  webhook_age constant interval := make_interval(
    days => (select value::integer from bellwire.settings where name = 'webhook_retention_days'));
  activity_age constant interval := make_interval(
    days => (select value::integer from bellwire.settings where name = 'activity_retention_days'));
begin
  what := 'webhook_deliveries';
  delete from bellwire.webhook_deliveries as delivery
  where delivery.id in (
    select old.id
    from bellwire.webhook_deliveries as old
    where old.state in ('delivered', 'dead') and old.created_at < now() - webhook_age
    limit max_count
    for update skip locked);
  get diagnostics deleted = row_count;
  return next;

  what := 'webhook_events';
  delete from bellwire.webhook_events as event
  where event.id in (
    select old.id
    from bellwire.webhook_events as old
    where old.created_at < now() - webhook_age
      and not exists (select from bellwire.webhook_deliveries as delivery where delivery.event_id = old.id)
    limit max_count
    for update skip locked);
  get diagnostics deleted = row_count;
  return next;

  what := 'activity_log';
  delete from bellwire.activity_log as activity
  where activity.id in (
    select old.id from bellwire.activity_log as old where old.created_at < now() - activity_age limit max_count);
  get diagnostics deleted = row_count;
  return next;

  what := 'sessions';
  delete from identity.sessions as session
  where session.token_digest in (
    select old.token_digest from identity.sessions as old where old.expires_at < now() limit max_count);
  get diagnostics deleted = row_count;
  return next;
end
$$;

comment on function bellwire.prune(integer) is 'Deletes at most so many rows per table that are past their retention.';

revoke all on function bellwire.prune(integer) from public;
grant execute on function bellwire.prune(integer) to bellwire_worker;
