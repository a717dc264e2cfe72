-- New recovery codes instead of all that are left, for a code of the second factor.
-- Called by: bellwire_server, which has checked the password.
-- Errors: none.
-- Returns: right, wrong or paused; the codes are exchanged after the first.
create or replace function identity.replace_recovery_codes(
  of_user_id bigint,
  matched_step bigint,
  code_digest text,
  code_digests text[]
)
returns text
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  outcome text;
begin
  outcome := identity.check_second_factor(of_user_id, matched_step, code_digest);
  if outcome = 'right' then
    delete from identity.recovery_codes as code where code.user_id = of_user_id;
    insert into identity.recovery_codes (user_id, code_digest)
    select of_user_id, digest from unnest(code_digests) as digest;
  end if;
  return outcome;
end
$$;

comment on function identity.replace_recovery_codes(bigint, bigint, text, text[]) is
  'Exchanges the recovery codes, if the code is right.';

revoke all on function identity.replace_recovery_codes(bigint, bigint, text, text[]) from public;
grant execute on function identity.replace_recovery_codes(bigint, bigint, text, text[]) to bellwire_server;
