-- Whoever reads a document comments on it; an author edits and deletes their own. What others may do goes through
-- api functions.
select bellwire.close_table('suite.comments');

create policy select_definer on suite.comments for select to bellwire_definer using (true);
create policy insert_definer on suite.comments for insert to bellwire_definer with check (true);
create policy update_definer on suite.comments for update to bellwire_definer using (true) with check (true);
create policy delete_definer on suite.comments for delete to bellwire_definer using (true);
grant select, insert, update, delete on suite.comments to bellwire_definer;

create policy select_admin on suite.comments for select to bellwire_admin using (true);
grant select on suite.comments to bellwire_admin;

create policy select_guest on suite.comments for select to authenticated
  using (squad_id = any (array(select suite.my_squads('guest'))));
grant select on suite.comments to authenticated;

create policy insert_guest on suite.comments for insert to authenticated
  with check (
    squad_id = any (array(select suite.my_squads('guest')))
    and author_id = (select bellwire.current_user_id())
  );
grant insert (log_id, parent_id, body) on suite.comments to authenticated;

create policy update_own on suite.comments for update to authenticated
  using (
    squad_id = any (array(select suite.my_squads('guest')))
    and author_id = (select bellwire.current_user_id())
  )
  with check (
    squad_id = any (array(select suite.my_squads('guest')))
    and author_id = (select bellwire.current_user_id())
  );
grant update (body, updated_at, resolved_at) on suite.comments to authenticated;

create policy delete_own on suite.comments for delete to authenticated
  using (
    squad_id = any (array(select suite.my_squads('guest')))
    and author_id = (select bellwire.current_user_id())
  );
grant delete on suite.comments to authenticated;
