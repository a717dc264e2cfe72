-- Third part of explain_delivery(): what may have happened to the telling itself. It failed, it waits for the worker, or
-- it only counted up a row of the same window.
-- Called by: explain_delivery(), as bellwire_definer.
-- Errors: none.
-- Source: reference 000, section 4, step 3; DESIGN, "The writer".
create or replace function bellwire.explain_telling(about bellwire.delivery_case)
returns table (step text, passed boolean, explanation text)
language sql
stable
set search_path = ''
as $$
  select
    'failure',
    (about.notification).id is not null or failure.id is null,
    case when failure.id is null then 'No rule failed over it.'
      else format('Telling failed (%s): %s, %s. See rule_failures %s.', failure.rule, failure.sqlstate, failure.message, failure.id)
    end
  from (select) as one
  left join lateral (
    select noted.*
    from bellwire.rule_failures as noted
    where noted.rule in ('fan_out', 'drain_fan_out')
      and noted.created_at >= (about.activity).created_at
      and (about.activity).id = any (noted.subject_ids)
    order by noted.created_at
    limit 1
  ) as failure on true
  union all
  select
    'queue',
    (about.notification).id is not null or waiting.id is null,
    case when waiting.id is null then 'It does not wait for the worker.'
      else format('It waits for the worker: fan_out_queue %s, since %s, told up to person %s.',
        waiting.id, date_trunc('second', waiting.created_at), waiting.after_user_id)
    end
  from (select) as one
  left join lateral (
    select queue.*
    from bellwire.fan_out_queue as queue
    where (queue.event ->> 'activity_id')::bigint = (about.activity).id and queue.after_user_id < (about.person).id
    limit 1
  ) as waiting on true
  union all
  select
    'window',
    earlier.id is null,
    case when earlier.id is null then format('Nothing of the kind was told within %s seconds before.', wide.seconds)
      else format('Counted up in notification %s of %s: the same kind about the same thing within %s seconds.',
        earlier.id, date_trunc('second', earlier.created_at), wide.seconds)
    end
  from (select value as seconds from bellwire.settings where name = 'notification_window_seconds') as wide
  left join lateral (
    select told.id, told.created_at
    from bellwire.notifications as told
    where (about.notification).id is null
      and told.user_id = (about.person).id
      and told.resource_id = (about.target).id
      and told.kind = about.kind
      and told.created_at > (about.activity).created_at - make_interval(secs => wide.seconds)
      -- The worker tells later than it happened: then the row may be younger, and says that it was counted up.
      and (told.created_at <= (about.activity).created_at
        or told.coalesced_count > 0 and told.created_at <= (about.activity).created_at + make_interval(secs => wide.seconds))
    order by told.created_at
    limit 1
  ) as earlier on true
$$;

comment on function bellwire.explain_telling(bellwire.delivery_case) is
  'Whether telling failed, waits, or counted up an earlier notification, in sentences.';

revoke all on function bellwire.explain_telling(bellwire.delivery_case) from public;
