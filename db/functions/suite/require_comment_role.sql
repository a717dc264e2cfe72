-- The check at the head of what others than the author may do to a comment.
-- Called by: api functions, as bellwire_definer.
-- Errors: P0002 for a comment the caller does not see; 42501.
create or replace function suite.require_comment_role(comment_id bigint, at_least text)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  of_comment suite.comments;
begin
  select comment.* into of_comment from suite.comments as comment where comment.id = comment_id;
  if of_comment.id is null or of_comment.squad_id is null or of_comment.squad_id not in (select suite.my_squads('guest')) then
    raise exception 'there is no such comment'
      using errcode = 'P0002', hint = 'It was deleted, or you cannot read it.';
  end if;
  if of_comment.author_id is distinct from bellwire.current_user_id()
    and of_comment.squad_id not in (select suite.my_squads(at_least))
  then
    raise exception 'this needs the role % or a higher one', at_least
      using errcode = '42501', hint = 'Ask a lead or an admin for it.';
  end if;
end
$$;

comment on function suite.require_comment_role(bigint, text) is
  'Raises unless the caller wrote the comment or has this role.';

revoke all on function suite.require_comment_role(bigint, text) from public;
