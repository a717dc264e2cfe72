-- Reference rows; an administrator adds actions.
select bellwire.close_table('bellwire.action_rules');

create policy select_definer on bellwire.action_rules for select to bellwire_definer using (true);
grant select on bellwire.action_rules to bellwire_definer;

create policy select_admin on bellwire.action_rules for select to bellwire_admin using (true);
grant select on bellwire.action_rules to bellwire_admin;

create policy insert_admin on bellwire.action_rules for insert to bellwire_admin with check (true);
grant insert on bellwire.action_rules to bellwire_admin;

create policy update_admin on bellwire.action_rules for update to bellwire_admin
  using (true)
  with check (true);
grant update (
  verb, emits, event_data, event_description, event_example, auto_watch, target, watcher_kind, owner_kind, named_kind, coalesce_seconds
) on bellwire.action_rules to bellwire_admin;
