-- The webhook subscriptions the caller administers, of one workspace when given, by id.
-- Called by: authenticated.
-- Errors: those of require_webhook_administrator(), when a workspace is given.
create or replace function api.list_webhooks(
  of_workspace_id bigint default null,
  after_id bigint default 0,
  page_size integer default 100
)
returns setof bellwire.webhook_details
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  max_page_size constant integer := 501;
begin
  if of_workspace_id is not null then
    perform bellwire.require_webhook_administrator(of_workspace_id);
  end if;
  return query
    select *
    from bellwire.describe_webhooks(array(
      select subscription.id
      from bellwire.webhook_subscriptions as subscription
      where subscription.id > coalesce(after_id, 0)
        and (of_workspace_id is null or subscription.workspace_id = of_workspace_id)
        and bellwire.administers_webhooks(subscription.workspace_id)
      order by subscription.id
      limit least(greatest(coalesce(page_size, 100), 1), max_page_size)));
end
$$;

comment on function api.list_webhooks(bigint, bigint, integer) is 'Webhook subscriptions of the caller.';

revoke all on function api.list_webhooks(bigint, bigint, integer) from public;
grant execute on function api.list_webhooks(bigint, bigint, integer) to authenticated;
