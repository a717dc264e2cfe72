create or replace trigger _100_place before insert on suite.comments
  for each row execute function suite.place_row();
