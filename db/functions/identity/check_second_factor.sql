-- Whether a code counts: a time step later than the last one that was taken, so that no code works twice, or a recovery
-- code, which is used up. Wrong ones are counted, and after too many none is looked at for a while.
-- Called by: functions of identity, as bellwire_definer.
-- Errors: none.
-- Returns: right, wrong or paused.
-- Source: RFC 6238, section 5.2.
create or replace function identity.check_second_factor(of_user_id bigint, matched_step bigint, code_digest text)
returns text
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  factor identity.second_factors;
  is_counting boolean;
  is_right boolean := false;
begin
  select own.* into factor
  from identity.second_factors as own
  where own.user_id = of_user_id and own.enabled_at is not null
  for update;
  if factor.user_id is null then
    return 'wrong';
  end if;
  is_counting := coalesce(factor.wrong_until > now(), false);
  if is_counting
    and factor.wrong_count >= (select value from bellwire.settings where name = 'second_factor_attempts')
  then
    return 'paused';
  end if;
  if matched_step > coalesce(factor.last_step, -1) then
    is_right := true;
  else
    delete from identity.recovery_codes as own
    where own.user_id = of_user_id and own.code_digest = check_second_factor.code_digest;
    is_right := found;
  end if;
  if is_right then
    update identity.second_factors as own
    set last_step = greatest(own.last_step, matched_step), wrong_count = 0, wrong_until = null
    where own.user_id = of_user_id;
    return 'right';
  end if;
  update identity.second_factors as own
  set wrong_count = case when is_counting then own.wrong_count + 1 else 1 end,
      wrong_until = case
        when is_counting then own.wrong_until
        else now() + make_interval(mins => (
          select value::integer from bellwire.settings where name = 'second_factor_pause_minutes'))
      end
  where own.user_id = of_user_id;
  return 'wrong';
end
$$;

comment on function identity.check_second_factor(bigint, bigint, text) is
  'Takes a code of the second factor, once, or counts a wrong one.';

revoke all on function identity.check_second_factor(bigint, bigint, text) from public;
