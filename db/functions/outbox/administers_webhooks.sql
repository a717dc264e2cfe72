-- Who may administer webhook subscriptions: owners and admins of a workspace those of it, whoever runs the installation all
-- of them, and those to every workspace. Said here and nowhere else.
-- Called by: require_webhook_administrator(), administered_webhook() and the lists of the API, as bellwire_definer.
-- Errors: none; nobody and the deactivated may not.
create or replace function bellwire.administers_webhooks(workspace_id bigint)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return exists (
    select
    from bellwire.users as me
    where me.id = bellwire.current_user_id()
      and me.deactivated_at is null
      and (me.is_admin or administers_webhooks.workspace_id in (select bellwire.my_workspaces('admin')))
  );
end
$$;

comment on function bellwire.administers_webhooks(bigint) is
  'Whether the caller may administer the webhook subscriptions of a workspace; null: those to every workspace.';

revoke all on function bellwire.administers_webhooks(bigint) from public;
