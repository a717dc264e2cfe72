-- How many unread notifications are kept for each person. The badge may show fewer: it leaves out what they can no longer
-- read.
create or replace view bellwire.admin_unread with (security_invoker = true) as
select
  person.id as user_id,
  person.name as user_name,
  person.email,
  person.deactivated_at is null as is_active,
  coalesce(inbox.unread, 0) as unread,
  inbox.oldest_at,
  inbox.newest_at
from bellwire.users as person
left join (
  select
    notification.user_id,
    count(*) as unread,
    min(notification.created_at) as oldest_at,
    max(notification.created_at) as newest_at
  from bellwire.notifications as notification
  where notification.read_at is null and notification.deleted_at is null
  group by notification.user_id
) as inbox on inbox.user_id = person.id;

comment on view bellwire.admin_unread is 'Unread notifications per person.';
comment on column bellwire.admin_unread.user_id is 'The person.';
comment on column bellwire.admin_unread.user_name is 'Their name.';
comment on column bellwire.admin_unread.email is 'Their address.';
comment on column bellwire.admin_unread.is_active is 'False: deactivated.';
comment on column bellwire.admin_unread.unread is 'How many, including what they can no longer read. Unit: notifications.';
comment on column bellwire.admin_unread.oldest_at is 'When the oldest of them was written. Null: none.';
comment on column bellwire.admin_unread.newest_at is 'When the newest of them was written. Null: none.';

revoke all on bellwire.admin_unread from public;
grant select on bellwire.admin_unread to bellwire_admin;
