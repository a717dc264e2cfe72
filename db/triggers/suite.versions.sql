create or replace trigger _100_place before insert on suite.versions
  for each row execute function suite.place_row();
