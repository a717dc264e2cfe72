-- The secret of a person, for the server to check a code with.
-- Called by: bellwire_server.
-- Errors: none; no row where there is none.
create or replace function identity.find_second_factor(of_user_id bigint)
returns table (secret text, is_enabled boolean)
language plpgsql
stable
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
    select factor.secret, factor.enabled_at is not null
    from identity.second_factors as factor
    where factor.user_id = of_user_id;
end
$$;

comment on function identity.find_second_factor(bigint) is 'The secret of a second factor, and whether it is on.';

revoke all on function identity.find_second_factor(bigint) from public;
grant execute on function identity.find_second_factor(bigint) to bellwire_server;
