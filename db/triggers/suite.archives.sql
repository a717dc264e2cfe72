create or replace trigger _100_sign before insert on suite.archives
  for each row execute function suite.sign_archive();
create or replace trigger _100_follow after update of squad_id on suite.archives
  for each row when (old.squad_id is distinct from new.squad_id) execute function suite.follow_archive();
