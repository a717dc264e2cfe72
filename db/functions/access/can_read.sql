-- May this person read this scope of this workspace right now? The one answer for recipients, as my_scopes() is for
-- callers.
-- Called by: claim_emails(), push_events(), unread_of() and explain_delivery(). write_notifications() has the same test as a
-- join, for ten thousand at a time.
-- Errors: none.
create or replace function bellwire.can_read(reader_id bigint, of_workspace_id bigint, of_scope_id bigint)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return exists (
    select
    from bellwire.users as person
    join bellwire.resources as root on root.workspace_id = of_workspace_id and root.parent_id is null
    join bellwire.memberships as membership on membership.scope_id = root.id and membership.user_id = person.id
    where person.id = reader_id
      and person.deactivated_at is null
      and (
        of_scope_id is null
        or of_scope_id = root.id
        or membership.role in ('owner', 'admin')
        or exists (
          select from bellwire.memberships as own where own.scope_id = of_scope_id and own.user_id = person.id
        )
      )
  );
end
$$;

comment on function bellwire.can_read(bigint, bigint, bigint) is
  'True when the person is active, in the workspace and, when a scope is given, in that scope or an admin over it.';

revoke all on function bellwire.can_read(bigint, bigint, bigint) from public;
