-- Ends everything a person is signed in with, and whatever would let somebody sign in or change the account without the
-- present password: half-made sign-ins, links of forgotten passwords, codes for another address.
-- Called by: functions of identity, as bellwire_definer, which have locked the person; the trigger of bellwire.users.
-- Errors: none.
-- Returns: the digests of the sessions, for their sockets.
create or replace function identity.end_sign_ins(of_user_id bigint)
returns text[]
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  digests text[];
begin
  delete from identity.sign_in_steps as step where step.user_id = of_user_id;
  delete from identity.password_resets as reset where reset.user_id = of_user_id;
  delete from identity.email_changes as change where change.user_id = of_user_id;
  with ended as (
    delete from identity.sessions as session where session.user_id = of_user_id returning session.token_digest
  )
  select coalesce(array_agg(ended.token_digest), '{}') into digests from ended;
  return digests;
end
$$;

comment on function identity.end_sign_ins(bigint) is
  'Deletes the sessions, links and codes of a person; returns the digests of the sessions.';

revoke all on function identity.end_sign_ins(bigint) from public;
