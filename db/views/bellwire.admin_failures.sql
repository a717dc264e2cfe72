-- What rules could not do, the same ones counted together, the most recent first; with the last thing it happened to.
create or replace view bellwire.admin_failures with (security_invoker = true) as
select
  failure.rule,
  failure.sqlstate,
  failure.message,
  failure.failures,
  failure.first_at,
  failure.last_at,
  coalesce(activity.action || ' by ' || coalesce(actor.name, 'the system') || ' on '
    || bellwire.name_resource(resource.type, resource.ref, resource.title),
    'notification ' || notification.id || ' for ' || reader.name) as last_subject,
  failure.last_subject_id,
  failure.last_context
from (
  select
    noted.rule,
    noted.sqlstate,
    noted.message,
    count(*) as failures,
    min(noted.created_at) as first_at,
    max(noted.created_at) as last_at,
    (array_agg(noted.subject_ids[1] order by noted.id desc))[1] as last_subject_id,
    (array_agg(noted.context order by noted.id desc))[1] as last_context
  from bellwire.rule_failures as noted
  group by noted.rule, noted.sqlstate, noted.message
) as failure
left join bellwire.activity_log as activity on activity.id = failure.last_subject_id and failure.rule <> 'queue_email'
left join bellwire.users as actor on actor.id = activity.actor_id
left join bellwire.resources as resource on resource.id = activity.resource_id
left join bellwire.notifications as notification on notification.id = failure.last_subject_id and failure.rule = 'queue_email'
left join bellwire.users as reader on reader.id = notification.user_id
order by failure.last_at desc;

comment on view bellwire.admin_failures is 'What rules could not do, grouped, the most recent first.';
comment on column bellwire.admin_failures.rule is 'Which rule, or "track" and the table.';
comment on column bellwire.admin_failures.sqlstate is 'The code of the error.';
comment on column bellwire.admin_failures.message is 'The words of the error.';
comment on column bellwire.admin_failures.failures is 'How often. Unit: failures.';
comment on column bellwire.admin_failures.first_at is 'When it first happened, as far as retention goes back.';
comment on column bellwire.admin_failures.last_at is 'When it last happened.';
comment on column bellwire.admin_failures.last_subject is 'What it last happened to. Null: nothing that has an id, or it is gone.';
comment on column bellwire.admin_failures.last_subject_id is
  'Its id in activity_log, or in notifications for queue_email; the first, where there were several.';
comment on column bellwire.admin_failures.last_context is 'Where it last happened, innermost first.';

revoke all on bellwire.admin_failures from public;
grant select on bellwire.admin_failures to bellwire_admin;
