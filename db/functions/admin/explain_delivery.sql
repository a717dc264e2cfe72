-- Why did this person get, or not get, this? The questions in the order in which the rules ask them, each with its answer
-- as things are now, and the verdict at the end: what they were told, or the first answer that stands against it.
-- passed is null where a question does not arise.
-- Called by: bellwire_admin.
-- Errors: P0002 for an unknown person or entry.
-- Source: reference 000, sections 2 to 4.
create or replace function bellwire.explain_delivery(user_id bigint, activity_id bigint)
returns table (step text, passed boolean, explanation text)
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  about constant bellwire.delivery_case := bellwire.open_delivery_case(user_id, activity_id);
  obstacle text;
begin
  for step, passed, explanation in
    select answer.* from bellwire.explain_action(about) as answer
    union all
    select answer.* from bellwire.explain_concern(about) as answer
    union all
    select answer.* from bellwire.explain_telling(about) as answer
    union all
    select answer.* from bellwire.explain_access(about) as answer
  loop
    if not passed then
      obstacle := coalesce(obstacle, explanation);
    end if;
    return next;
  end loop;

  step := 'verdict';
  passed := (about.notification).id is not null;
  explanation := case
    when passed then bellwire.explain_notification(about.notification)
    when obstacle is not null then 'Not told. ' || obstacle
    else 'Not told, and nothing stands against it now: the notification has been deleted since (retention), or a preference, '
      'a rule or a mute was another one when it happened.'
  end;
  return next;
end
$$;

comment on function bellwire.explain_delivery(bigint, bigint) is
  'Why a person was, or was not, told of an activity entry: one row per question, the verdict last.';

revoke all on function bellwire.explain_delivery(bigint, bigint) from public;
grant execute on function bellwire.explain_delivery(bigint, bigint) to bellwire_admin;
