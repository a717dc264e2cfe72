-- Records something no table shows: a download, a sign-off in another system.
-- Called by: bellwire_admin.
-- Errors: P0002 unknown resource; 22023 unknown action.
create or replace function bellwire.log_activity(
  action text,
  resource_type text,
  resource_ref text,
  metadata jsonb default '{}'
)
returns void
language plpgsql
security definer
set search_path = ''
as $$
declare
  subject bellwire.resources;
begin
  if not exists (select from bellwire.action_rules as rule where rule.action = log_activity.action) then
    raise exception 'there is no action %', action
      using errcode = '22023', hint = 'Actions are rows of bellwire.action_rules; insert yours there first.';
  end if;
  select resource.* into subject
  from bellwire.resources as resource
  where resource.type = resource_type and resource.ref = resource_ref;
  if subject.id is null then
    raise exception 'there is no % %', resource_type, resource_ref
      using errcode = 'P0002', hint = 'The table has to be tracked: see bellwire.track().';
  end if;
  perform bellwire.record_activity(
    array[row(
      action, bellwire.current_user_id(), subject.workspace_id, subject.scope_id, subject.id,
      metadata, null, true
    )::bellwire.activity_draft]);
end
$$;

comment on function bellwire.log_activity(text, text, text, jsonb) is
  'Records one activity by hand; the rules follow as always.';

revoke all on function bellwire.log_activity(text, text, text, jsonb) from public;
grant execute on function bellwire.log_activity(text, text, text, jsonb) to bellwire_admin;
