-- Counts one attempt of a client and says whether it may go on: at most so many in a window that begins with the first.
-- The count is one for all servers. Attempts under one key are counted one after the other, those under different keys
-- never meet. Who has no attempt left is refused without a write, so that a flood of refusals locks nothing and grows
-- nothing.
-- A new row takes two of windows that ended with it: there are never many more rows than clients in a window, with or
-- without a worker. Rows that somebody holds are passed over, so nothing is waited for while something is locked.
-- The key is stored as a digest, because addresses are personal data. Of an IPv4 address that is no secret to whoever
-- has the table and tries all of them; therefore rows go as soon as they may.
-- Called by: bellwire_server, before everything that is limited.
-- Errors: 23502, 23514 for a bucket that is none or too long.
-- Source: reference 001, "Rate limiters".
create or replace function identity.take_attempt(
  bucket text,
  key text,
  max_attempts integer,
  window_seconds integer,
  out is_allowed boolean,
  out remaining integer,
  out retry_after_seconds integer
)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_variable
declare
  digest constant text := encode(sha256(convert_to(bucket || ' ' || key, 'UTF8')), 'hex');
  new_end constant timestamptz := now() + make_interval(secs => window_seconds);
  counted record;
begin
  select taken.attempt_count, taken.ends_at
  into counted
  from identity.rate_limits as taken
  where taken.key_digest = digest and taken.ends_at > now() and taken.attempt_count >= max_attempts;
  if found then
    is_allowed := false;
  else
    insert into identity.rate_limits as taken (key_digest, bucket, attempt_count, ends_at)
    values (digest, bucket, 1, new_end)
    on conflict (key_digest) do update set
      -- An end that stays as it is keeps the row's index entries, too.
      ends_at = case when taken.ends_at > now() then taken.ends_at else excluded.ends_at end,
      attempt_count = case when taken.ends_at > now() then taken.attempt_count + 1 else 1 end
    returning taken.attempt_count, taken.ends_at into counted;
    is_allowed := counted.attempt_count <= max_attempts;
    if counted.attempt_count = 1 then
      delete from identity.rate_limits as taken
      where taken.key_digest in (
        select ended.key_digest
        from identity.rate_limits as ended
        where ended.ends_at <= now()
        order by ended.ends_at
        limit 2
        for update skip locked
      );
    end if;
  end if;
  remaining := greatest(max_attempts - counted.attempt_count, 0);
  retry_after_seconds := greatest(ceil(extract(epoch from counted.ends_at - now())), 1);
end
$$;

comment on function identity.take_attempt(text, text, integer, integer) is
  'Counts an attempt under a key; whether it is allowed, how many are left, and when the window ends.';

revoke all on function identity.take_attempt(text, text, integer, integer) from public;
grant execute on function identity.take_attempt(text, text, integer, integer) to bellwire_server;
