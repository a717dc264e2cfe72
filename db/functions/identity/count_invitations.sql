-- How many letters a person may send in a day: an invitation goes to any address, and is not a way to write to the world.
-- Called by: invite(), as bellwire_definer.
-- Errors: 54000 with detail invitation_limit.
create or replace function identity.count_invitations(caller_id bigint)
returns void
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  -- Two at once are counted one after the other.
  perform from bellwire.users as person where person.id = caller_id for no key update;
  if (
    select coalesce(sum(invitation.sent_count), 0)
    from identity.invitations as invitation
    where invitation.invited_by = caller_id and invitation.created_at > now() - interval '1 day'
  ) >= (select value from bellwire.settings where name = 'invitations_a_day') then
    raise exception 'you have sent as many invitations as one may in a day'
      using errcode = '54000', detail = 'invitation_limit', hint = 'Go on tomorrow, or ask somebody else.';
  end if;
end
$$;

comment on function identity.count_invitations(bigint) is 'Raises when a person has invited too often today.';

revoke all on function identity.count_invitations(bigint) from public;
