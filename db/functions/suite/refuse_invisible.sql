-- After a change that touched no row: says whether the thing is not there (or not visible, which is the same to the
-- caller) or may only not be changed by them.
-- Called by: api functions, as authenticated.
-- Errors: P0002 or 42501, always one of them.
create or replace function suite.refuse_invisible(what text, is_visible boolean)
returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  if is_visible then
    raise exception 'you may not change this %', what
      using errcode = '42501', hint = 'Ask a lead or an admin for a higher role.';
  end if;
  raise exception 'there is no such %', what
    using errcode = 'P0002', hint = 'It was deleted, or you cannot read it.';
end
$$;

comment on function suite.refuse_invisible(text, boolean) is 'Raises not found or forbidden.';

revoke all on function suite.refuse_invisible(text, boolean) from public;
grant execute on function suite.refuse_invisible(text, boolean) to authenticated;
