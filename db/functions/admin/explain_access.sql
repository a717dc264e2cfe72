-- Fourth part of explain_delivery(): may the person read it, and do they want to be told? can_read() decides; the rest
-- finds the words.
-- Called by: explain_delivery(), as bellwire_definer.
-- Errors: none.
-- Source: reference 000, section 4 (preferences); DESIGN, "The writer".
create or replace function bellwire.explain_access(about bellwire.delivery_case)
returns table (step text, passed boolean, explanation text)
language sql
stable
set search_path = ''
as $$
  with access as (
    select
      bellwire.can_read((about.person).id, root.workspace_id, scope.id) as may_read,
      'workspace “' || root.title || '”' as workspace,
      bellwire.name_resource(scope.type, scope.ref, scope.title) as scope,
      membership.role,
      -- Admins of the workspace need no membership of their own in the scope.
      case when (about.notification).id is null then
        case when membership.created_at > (about.activity).created_at then membership.created_at
          when membership.role not in ('owner', 'admin') and own.created_at > (about.activity).created_at then own.created_at
        end
      end as joined_later_at
    from bellwire.resources as root
    left join bellwire.notification_kinds as known on known.kind = about.kind
    left join bellwire.resources as scope on scope.id = (about.activity).scope_id and known.is_scoped is not false
    left join bellwire.memberships as membership
      on membership.scope_id = root.id and membership.user_id = (about.person).id
    left join bellwire.memberships as own on own.scope_id = scope.id and own.user_id = (about.person).id
    where root.workspace_id = (about.activity).workspace_id and root.parent_id is null
  )
  select
    'access',
    coalesce(access.may_read, false) and access.joined_later_at is null,
    case
      when (about.person).deactivated_at is not null
        then format('%s was deactivated on %s.', (about.person).name, date_trunc('second', (about.person).deactivated_at))
      when access.role is null then format('%s is not in the %s.', (about.person).name, access.workspace)
      when not access.may_read then format('%s is not in %s.', (about.person).name, access.scope)
      when access.joined_later_at is not null
        then format('%s joined on %s, after it had happened.', (about.person).name, date_trunc('second', access.joined_later_at))
      else format('%s is active, %s of the %s%s.', (about.person).name, access.role, access.workspace,
        coalesce(', and reads ' || access.scope, ''))
    end
  from access
  union all
  select
    'preferences',
    case when known.kind is not null then wants.in_app or wants.email end,
    case
      when known.kind is null then 'There is no kind to ask them about.'
      else format('%s wants %s %s.', (about.person).name, known.kind, case
        when wants.in_app and wants.email then 'in the bell and by e-mail'
        when wants.in_app then 'in the bell, not by e-mail'
        when wants.email then 'by e-mail only'
        else 'neither in the bell nor by e-mail'
      end)
    end
  from (select) as one
  left join bellwire.notification_kinds as known on known.kind = about.kind
  left join bellwire.notification_preferences as preference
    on preference.user_id = (about.person).id and preference.kind = about.kind
  cross join lateral (
    select preference.in_app is not false as in_app, coalesce(preference.email, known.email_by_default) as email
  ) as wants
$$;

comment on function bellwire.explain_access(bellwire.delivery_case) is
  'Whether the person may read it and wants to be told, in sentences.';

revoke all on function bellwire.explain_access(bellwire.delivery_case) from public;
