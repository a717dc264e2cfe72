-- Tells one person one thing: the one-recipient face of write_notifications(), for a DBA, a job or a service.
-- A source key makes a retry a no-op that returns the first id. Two calls with one key, or about one resource, take turns.
-- Called by: bellwire_admin.
-- Errors: 22023 missing or unknown kind, missing title, bad link path.
-- Returns: the id, null when the person is not to be told (the actor, not a member, turned off); whether it is new.
-- Source: reference 000, section 4; reference 003.
create or replace function bellwire.notify(
  recipient_id bigint,
  workspace_id bigint,
  kind text,
  title text,
  body text default null,
  link_path text default null,
  resource_type text default null,
  resource_ref text default null,
  source_key text default null,
  metadata jsonb default '{}'
)
returns table (id bigint, created boolean)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  source_key_locks constant integer := 7302; -- first half of the advisory key
  window_locks constant integer := 7301; -- as in tell_people()
  window_count constant integer := 1024;
  subject bellwire.resources;
begin
  if recipient_id is null or workspace_id is null or bellwire.plain_text(title, 255) is null then
    raise exception 'a notification needs a recipient, a workspace and a title'
      using errcode = '22023', hint = 'A title of tags alone is empty.';
  end if;
  if not exists (select from bellwire.notification_kinds as known where known.kind = notify.kind) then
    raise exception 'there is no notification kind %', coalesce(kind, 'null')
      using errcode = '22023', hint = 'Kinds are rows of bellwire.notification_kinds; insert yours there first.';
  end if;
  if link_path !~ '^/' or link_path ~ '^//' or link_path ~ '[\s\\]' or char_length(link_path) > 500 then
    raise exception 'a link path starts with one /, has no backslash or white space and at most 500 characters'
      using errcode = '22023', hint = 'Pass a path of your application, for example /tickets/7.';
  end if;
  if source_key is not null then
    perform pg_advisory_xact_lock(source_key_locks, hashtext(workspace_id || ':' || recipient_id || ':' || source_key));
  end if;
  if resource_type is not null then
    select resource.* into subject
    from bellwire.resources as resource
    where resource.type = resource_type and resource.ref = resource_ref and resource.workspace_id = notify.workspace_id;
    if subject.id is null then
      raise exception 'there is no % % in workspace %', resource_type, resource_ref, workspace_id
        using errcode = 'P0002', hint = 'Its table has to be tracked: see bellwire.track().';
    end if;
  end if;

  if subject.id is not null then
    -- As tell_people() locks it; here whoever comes second waits, because an id has to be returned.
    perform pg_advisory_xact_lock(window_locks, (subject.id % window_count)::integer);
  end if;

  return query
    select written.notification_id, written.created
    from bellwire.write_notifications(
      row(
        array[recipient_id], kind, bellwire.current_user_id(), workspace_id, subject.scope_id, subject.id, null,
        title, body, link_path, metadata, source_key,
        (select root.id from bellwire.resources as root where root.workspace_id = notify.workspace_id and root.parent_id is null),
        (select known.email_by_default from bellwire.notification_kinds as known where known.kind = notify.kind)
      )::bellwire.notification_draft
    ) as written;
end
$$;

comment on function bellwire.notify(bigint, bigint, text, text, text, text, text, text, text, jsonb) is
  'Writes one notification; returns its id and whether it is new, or (null, false) when the person is not to be told.';

revoke all on function bellwire.notify(bigint, bigint, text, text, text, text, text, text, text, jsonb) from public;
grant execute on function bellwire.notify(bigint, bigint, text, text, text, text, text, text, text, jsonb) to bellwire_admin;
