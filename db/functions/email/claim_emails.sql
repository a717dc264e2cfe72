-- Takes up to so many messages to send, adds one attempt to each and returns all a mail needs. What must not be
-- mailed any more is finished as skipped on the way: the person is no longer active, cannot read it or has no address
-- (see no_address()), or it is over 24 hours old. What a lost worker had begun to hand over has failed: see
-- hand_over_email() and, for why it is not sent again, finish_email().
-- Called by: bellwire_worker.
-- Errors: none of its own.
-- Source: reference 003, "Email".
create or replace function bellwire.claim_emails(max_count integer)
returns table (
  id bigint,
  attempt integer,
  to_address text,
  to_name text,
  kind text,
  kind_description text,
  subject text,
  body text,
  link_path text,
  workspace_name text,
  unsubscribe_token uuid
)
language plpgsql
security definer
set search_path = ''
as $$
declare
  claimed_ids bigint[];
  judged_count bigint;
begin
  -- A round in which everything was skipped says nothing of what is behind it.
  loop
    with due as materialized (
      select outbox.id, outbox.state = 'sending' and outbox.handed_over_at is not null as is_handed_over
      from bellwire.email_outbox as outbox
      where outbox.state = 'pending' and (outbox.retry_at is null or outbox.retry_at <= now())
        or outbox.state = 'sending' and outbox.claimed_at < now() - make_interval(
          mins => (select value::integer from bellwire.settings where name = 'email_claim_minutes'))
      order by outbox.id
      limit max_count
      for update skip locked
    ),
    judged as materialized (
      select
        due.id,
        due.is_handed_over,
        case
          when due.is_handed_over then 'failed'
          when outbox.attempts >= (select value from bellwire.settings where name = 'email_attempts')
            then 'failed'
          when notification.created_at < now() - make_interval(
              hours => (select value::integer from bellwire.settings where name = 'email_expiry_hours'))
            or not bellwire.can_read(notification.user_id, notification.workspace_id, notification.scope_id)
            or person.email like '%.invalid'
            then 'skipped'
          else 'sending'
        end as new_state,
        case
          when notification.created_at < now() - make_interval(
              hours => (select value::integer from bellwire.settings where name = 'email_expiry_hours'))
            then 'too old'
          when person.email like '%.invalid' then 'recipient has no address'
          else 'recipient is no longer active or lost access'
        end as skipped_because
      from due
      join bellwire.email_outbox as outbox on outbox.id = due.id
      join bellwire.notifications as notification on notification.id = outbox.notification_id
      join bellwire.users as person on person.id = notification.user_id
    ),
    moved as (
      update bellwire.email_outbox as outbox
      set state = judged.new_state,
          attempts = outbox.attempts + case when judged.new_state = 'sending' then 1 else 0 end,
          claimed_at = now(),
          handed_over_at = case when judged.new_state <> 'sending' then outbox.handed_over_at end,
          error = case
            when judged.is_handed_over then 'the worker was lost while the mail server took it; it may have arrived'
            when judged.new_state = 'skipped' then judged.skipped_because
            when judged.new_state = 'failed' then 'no attempt was finished'
          end
      from judged
      where outbox.id = judged.id
      returning outbox.id, outbox.state
    )
    select array_agg(moved.id) filter (where moved.state = 'sending'), count(*)
    into claimed_ids, judged_count
    from moved;
    exit when claimed_ids is not null or judged_count = 0;
  end loop;

  return query
    select
      outbox.id,
      outbox.attempts,
      person.email,
      person.name,
      notification.kind,
      known.description,
      notification.title,
      notification.body,
      notification.link_path,
      workspace.name,
      outbox.unsubscribe_token
    from bellwire.email_outbox as outbox
    join bellwire.notifications as notification on notification.id = outbox.notification_id
    join bellwire.notification_kinds as known on known.kind = notification.kind
    join bellwire.users as person on person.id = notification.user_id
    join bellwire.workspaces as workspace on workspace.id = notification.workspace_id
    where outbox.id = any (claimed_ids)
    order by outbox.id;
end
$$;

comment on function bellwire.claim_emails(integer) is 'Claims due messages and returns what they say and to whom.';

revoke all on function bellwire.claim_emails(integer) from public;
grant execute on function bellwire.claim_emails(integer) to bellwire_worker;
