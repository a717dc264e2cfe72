-- Whether the caller signs in with a second factor, and how many recovery codes are left.
-- Called by: authenticated.
-- Errors: none.
create or replace function api.second_factor_state()
returns table (is_enabled boolean, enabled_at timestamptz, recovery_codes_left integer)
language plpgsql
stable
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
    select
      factor.enabled_at is not null,
      factor.enabled_at,
      (select count(*)::integer from identity.recovery_codes as code where code.user_id = bellwire.current_user_id())
    from (select bellwire.current_user_id() as user_id) as caller
    left join identity.second_factors as factor on factor.user_id = caller.user_id;
end
$$;

comment on function api.second_factor_state() is 'The second factor of the caller.';

revoke all on function api.second_factor_state() from public;
grant execute on function api.second_factor_state() to authenticated;
