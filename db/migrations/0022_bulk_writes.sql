-- What made an UPDATE of ten thousand documents slow: two checks of keys per automatic watch, and binary JSON per event that
-- waits for the worker.
set local role bellwire_owner;

-- Registry rows go only with their workspace; sweep_resources() and sweep_users() take the watches along. Whom a check
-- would protect from, a watch that meets the deletion of its person, is a row that names nobody and tells nobody.
alter table bellwire.watches drop constraint watches_resource_fkey, drop constraint watches_user_fkey;

-- Written once and read once: text that is not taken apart is half the work.
alter table bellwire.fan_out_queue alter event type json using event::json;

reset role;
