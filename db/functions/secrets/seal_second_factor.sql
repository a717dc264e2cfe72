-- Puts a sealed text in the place of what it was made from; a secret that is another one by now stays.
-- Called by: bellwire_worker.
-- Errors: none; a text that is not sealed replaces nothing.
-- Returns: whether it was replaced.
create or replace function bellwire.seal_second_factor(of_user_id bigint, old text, new text)
returns boolean
language plpgsql
security definer
set search_path = ''
as $$
begin
  update identity.second_factors as factor
  set secret = seal_second_factor.new
  where factor.user_id = of_user_id
    and factor.secret = seal_second_factor.old
    and starts_with(seal_second_factor.new, 'sealed.');
  return found;
end
$$;

comment on function bellwire.seal_second_factor(bigint, text, text) is
  'Replaces the secret of a second factor by its sealed text.';

revoke all on function bellwire.seal_second_factor(bigint, text, text) from public;
grant execute on function bellwire.seal_second_factor(bigint, text, text) to bellwire_worker;
