-- Keeps a new secret until its first code is shown; sign-in does not ask for it yet. Beginning again makes the last one
-- void.
-- Called by: bellwire_server, which has checked the password.
-- Errors: 22023 with detail second_factor_on.
create or replace function identity.begin_second_factor(of_user_id bigint, new_secret text)
returns void
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  insert into identity.second_factors as factor (user_id, secret)
  values (of_user_id, new_secret)
  on conflict (user_id) do update
  set secret = excluded.secret, created_at = now()
  where factor.enabled_at is null;
  if not found then
    raise exception 'the second factor is on already'
      using errcode = '22023', detail = 'second_factor_on', hint = 'Turn it off before you set up another device.';
  end if;
end
$$;

comment on function identity.begin_second_factor(bigint, text) is
  'Stores the secret of a second factor that is not on yet.';

revoke all on function identity.begin_second_factor(bigint, text) from public;
grant execute on function identity.begin_second_factor(bigint, text) to bellwire_server;
