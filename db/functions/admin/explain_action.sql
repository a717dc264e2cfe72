-- First part of explain_delivery(): what happened, whom its action tells, and whether the person did it.
-- Called by: explain_delivery(), as bellwire_definer.
-- Errors: none.
-- Source: reference 000, section 2, "Watcher fan-out"; section 4, self-suppression.
create or replace function bellwire.explain_action(about bellwire.delivery_case)
returns table (step text, passed boolean, explanation text)
language sql
stable
set search_path = ''
as $$
  select
    'entry',
    true,
    format('%s %s %s on %s (%s).',
      coalesce((select actor.name from bellwire.users as actor where actor.id = (about.activity).actor_id), 'The system'),
      (about.rule).verb,
      bellwire.name_resource((about.subject).type, (about.subject).ref, (about.subject).title),
      date_trunc('second', (about.activity).created_at),
      (about.activity).action)
      || case when (about.subject).deleted_at is not null then
        format(' It was deleted on %s.', date_trunc('second', (about.subject).deleted_at)) else '' end
  union all
  select
    'action',
    (about.target).id is not null and tells.whom is not null,
    case
      when (about.target).id is null then
        format('The action %s tells those of the parent, and there is no parent.', (about.activity).action)
      when tells.whom is null then
        format('The action %s tells nobody: it has neither watcher_kind nor owner_kind, and the entry names nobody.',
          (about.activity).action)
      else
        format('The action %s tells %s; about %s.', (about.activity).action, tells.whom,
          bellwire.name_resource((about.target).type, (about.target).ref, (about.target).title))
    end
  from (
    select nullif(concat_ws(', ',
      'people it names (' || case when (about.activity).named_ids is not null then (about.rule).named_kind end || ')',
      'the owner (' || (about.rule).owner_kind || ')',
      'watchers (' || (about.rule).watcher_kind || ')'), '') as whom
  ) as tells
  union all
  select
    'actor',
    (about.activity).actor_id is distinct from (about.person).id,
    case when (about.activity).actor_id = (about.person).id
      then format('%s did it: nobody is told what they did themselves.', (about.person).name)
      else format('%s did not do it.', (about.person).name)
    end
$$;

comment on function bellwire.explain_action(bellwire.delivery_case) is 'What happened and whom it tells, in sentences.';

revoke all on function bellwire.explain_action(bellwire.delivery_case) from public;
