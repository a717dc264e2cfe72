-- Turns the second factor on, once a code of it was shown.
-- Called by: bellwire_server.
-- Errors: P0002 when nothing was begun, or it is on; 22023 with detail wrong_code.
create or replace function identity.enable_second_factor(of_user_id bigint, matched_step bigint, code_digests text[])
returns void
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  perform from identity.second_factors as factor
  where factor.user_id = of_user_id and factor.enabled_at is null
  for update;
  if not found then
    raise exception 'there is no second factor that waits for its first code'
      using errcode = 'P0002', hint = 'Begin with a new secret.';
  end if;
  if matched_step is null then
    raise exception 'that is not the code of this secret'
      using errcode = '22023', detail = 'wrong_code', hint = 'Wait for the next code; see that the clock of the device is right.';
  end if;
  update identity.second_factors as factor
  set enabled_at = now(), last_step = matched_step, wrong_count = 0, wrong_until = null
  where factor.user_id = of_user_id;
  delete from identity.recovery_codes as code where code.user_id = of_user_id;
  insert into identity.recovery_codes (user_id, code_digest)
  select of_user_id, digest from unnest(code_digests) as digest;
end
$$;

comment on function identity.enable_second_factor(bigint, bigint, text[]) is
  'Turns a second factor on and stores its recovery codes.';

revoke all on function identity.enable_second_factor(bigint, bigint, text[]) from public;
grant execute on function identity.enable_second_factor(bigint, bigint, text[]) to bellwire_server;
