-- Sends the events since an instant, or from a sequence on, again.
-- Called by: authenticated.
-- Errors: P0002; those of replay_webhooks().
create or replace function api.replay_webhook(webhook_id bigint, since timestamptz, from_sequence bigint)
returns table (replayed integer, first_sequence bigint, last_sequence bigint, next_sequence bigint)
language plpgsql
security definer
set search_path = ''
as $$
begin
  return query
    select * from bellwire.replay_webhooks((bellwire.administered_webhook(webhook_id)).id, since, from_sequence);
end
$$;

comment on function api.replay_webhook(bigint, timestamptz, bigint) is 'Sends past events to a webhook subscription again.';

revoke all on function api.replay_webhook(bigint, timestamptz, bigint) from public;
grant execute on function api.replay_webhook(bigint, timestamptz, bigint) to authenticated;
