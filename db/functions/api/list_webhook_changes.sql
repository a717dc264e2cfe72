-- Who did what to the webhook subscriptions the caller administers, the newest first; to those of one workspace, or to one
-- subscription, which may be gone, when given.
-- Called by: authenticated.
-- Errors: those of require_webhook_administrator(), when a workspace is given.
create or replace function api.list_webhook_changes(
  of_workspace_id bigint default null,
  of_webhook_id bigint default null,
  before_id bigint default null,
  page_size integer default 100
)
returns table (
  id bigint,
  at timestamptz,
  actor_id bigint,
  actor_name text,
  actor_avatar_url text,
  webhook_id bigint,
  workspace_id bigint,
  what text,
  details jsonb
)
language plpgsql
stable
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  max_page_size constant integer := 501;
  is_of_installation constant boolean := bellwire.administers_webhooks(null);
  workspace_ids constant bigint[] := array(select bellwire.my_workspaces('admin'));
begin
  if of_workspace_id is not null then
    perform bellwire.require_webhook_administrator(of_workspace_id);
  end if;
  return query
    select
      change.id, change.at, change.actor_id, person.name, person.avatar_url, change.subscription_id, change.workspace_id,
      change.what, change.details
    from bellwire.webhook_changes as change
    left join bellwire.users as person on person.id = change.actor_id
    where (before_id is null or change.id < before_id)
      and (of_workspace_id is null or change.workspace_id = of_workspace_id)
      and (of_webhook_id is null or change.subscription_id = of_webhook_id)
      and (is_of_installation or change.workspace_id = any (workspace_ids))
    order by change.id desc
    limit least(greatest(coalesce(page_size, 100), 1), max_page_size);
end
$$;

comment on function api.list_webhook_changes(bigint, bigint, bigint, integer) is
  'What was done to webhook subscriptions, the newest first.';

revoke all on function api.list_webhook_changes(bigint, bigint, bigint, integer) from public;
grant execute on function api.list_webhook_changes(bigint, bigint, bigint, integer) to authenticated;
