-- Collects what decides whether a person is told of an activity entry, as tell_people() would find it now; the explain_
-- functions put it into words. Facts only: nothing is written.
-- Called by: explain_delivery(), as bellwire_definer.
-- Errors: P0002 for an unknown person or entry.
-- Source: reference 000, sections 2 to 4.
create or replace function bellwire.open_delivery_case(user_id bigint, activity_id bigint)
returns bellwire.delivery_case
language plpgsql
stable
set search_path = ''
as $$
#variable_conflict use_variable
declare
  opened bellwire.delivery_case;
begin
  select known into opened.person from bellwire.users as known where known.id = user_id;
  if (opened.person).id is null then
    raise exception 'there is no user %', user_id
      using errcode = 'P0002', hint = 'select id, name, email from bellwire.users';
  end if;
  select entry into opened.activity from bellwire.activity_log as entry where entry.id = activity_id;
  if (opened.activity).id is null then
    raise exception 'there is no activity entry %', activity_id
      using errcode = 'P0002',
        hint = 'It is older than activity_retention_days, or was never recorded: what repeats within coalesce_seconds is dropped.';
  end if;
  select known into opened.rule from bellwire.action_rules as known where known.action = (opened.activity).action;
  select known into opened.subject from bellwire.resources as known where known.id = (opened.activity).resource_id;
  select known into opened.target
  from bellwire.resources as known
  where known.id = case (opened.rule).target when 'parent' then (opened.subject).parent_id else (opened.subject).id end;
  select watch into opened.word
  from bellwire.watches as watch
  where watch.user_id = user_id and watch.resource_id = any ((opened.target).ancestors || (opened.target).id)
  order by array_position((opened.target).ancestors || (opened.target).id, watch.resource_id) desc
  limit 1;

  opened.reason := case
    when user_id = any ((opened.activity).named_ids) then 'named'
    when user_id = (opened.target).owner_id and (opened.rule).owner_kind is not null then 'owner'
    when (opened.word).level = 'watching' and (opened.rule).watcher_kind is not null then 'watcher'
  end;
  opened.kind := case opened.reason
    when 'named' then (opened.rule).named_kind
    when 'owner' then (opened.rule).owner_kind
    when 'watcher' then (opened.rule).watcher_kind
  end;
  select told into opened.notification
  from bellwire.notifications as told
  where told.user_id = user_id
    and told.created_at >= (opened.activity).created_at
    and told.activity_id = open_delivery_case.activity_id;
  return opened;
end
$$;

comment on function bellwire.open_delivery_case(bigint, bigint) is
  'Everything that decides whether one person is told of one activity entry.';

revoke all on function bellwire.open_delivery_case(bigint, bigint) from public;
