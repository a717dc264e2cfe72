-- The secrets of second factors that are plain, or sealed by another key than the current one, in the order of their people.
-- Called by: bellwire_worker, which seals them.
-- Errors: none.
create or replace function bellwire.unsealed_second_factors(current_key_id text, after_user_id bigint, max_count integer)
returns table (user_id bigint, secret text)
language plpgsql
stable
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  current_prefix constant text := 'sealed.1.' || current_key_id;
begin
  return query
    select factor.user_id, factor.secret
    from identity.second_factors as factor
    -- Not "<>", which no index serves.
    where (left(factor.secret, 17) collate "C" < current_prefix or left(factor.secret, 17) collate "C" > current_prefix)
      and factor.user_id > after_user_id
    order by factor.user_id
    limit max_count;
end
$$;

comment on function bellwire.unsealed_second_factors(text, bigint, integer) is
  'Secrets of second factors that are not sealed by the current key.';

revoke all on function bellwire.unsealed_second_factors(text, bigint, integer) from public;
grant execute on function bellwire.unsealed_second_factors(text, bigint, integer) to bellwire_worker;
