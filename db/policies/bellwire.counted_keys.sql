-- Of write_notifications(); nobody else has a use for it.
select bellwire.close_table('bellwire.counted_keys');

create policy select_definer on bellwire.counted_keys for select to bellwire_definer using (true);
create policy insert_definer on bellwire.counted_keys for insert to bellwire_definer with check (true);
grant select, insert on bellwire.counted_keys to bellwire_definer;
