-- Whose code the second step of a sign-in has to show.
-- Called by: bellwire_server.
-- Errors: none; no row when the step is over.
create or replace function identity.find_sign_in_step(token_digest text)
returns table (user_id bigint, secret text)
language plpgsql
stable
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
    select step.user_id, factor.secret
    from identity.sign_in_steps as step
    join identity.second_factors as factor on factor.user_id = step.user_id and factor.enabled_at is not null
    where step.token_digest = find_sign_in_step.token_digest and step.expires_at > now();
end
$$;

comment on function identity.find_sign_in_step(text) is 'The secret for a sign-in that waits for its second step.';

revoke all on function identity.find_sign_in_step(text) from public;
grant execute on function identity.find_sign_in_step(text) to bellwire_server;
