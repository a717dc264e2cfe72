create or replace trigger _100_place before insert on suite.logs
  for each row execute function suite.place_row();
create or replace trigger _100_stamp before update of title, html, parent_id on suite.logs
  for each row execute function suite.stamp_log();
create or replace trigger _200_guard_move before insert or update of parent_id, archive_id on suite.logs
  for each row execute function suite.guard_move();
