-- Gives a receiver a new secret, returned once. The old one signs beside it for webhook_rotation_hours, or no more at all.
-- Called by: bellwire_admin.
-- Errors: P0002 for an unknown subscription.
create or replace function bellwire.rotate_webhook_secret(id bigint, keeps_old boolean default true)
returns table (secret text, old_expires_at timestamptz)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
begin
  secret := bellwire.random_webhook_secret();
  old_expires_at := bellwire.write_webhook_secret(id, coalesce(keeps_old, true), gen_random_uuid(), secret);
  return next;
end
$$;

comment on function bellwire.rotate_webhook_secret(bigint, boolean) is
  'Replaces the signing secret of a subscription; returns the new one, once.';

revoke all on function bellwire.rotate_webhook_secret(bigint, boolean) from public;
grant execute on function bellwire.rotate_webhook_secret(bigint, boolean) to bellwire_admin;
