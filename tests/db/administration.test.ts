import { readFileSync } from 'node:fs';
import t from 'tap';
import { seed } from '../../db/seed/seed.ts';
import { createDatabase } from '../support/database.ts';

const MIGRATION = new URL('../../db/migrations/0013_administration.sql', import.meta.url);

t.test('0013 applies to a database that is in use', async (t) => {
  const { admin, adminUrl } = await createDatabase(t);
  await seed(adminUrl);
  const settings = () =>
    admin.query("select name, value from bellwire.settings where name ~ 'retention' order by name");
  const { rows: before } = await settings();
  // Back to how the migration before it left things; row security is forced by now.
  await admin.query(`
    drop type bellwire.delivery_case cascade;
    drop index bellwire.notifications_read, bellwire.notifications_deleted, bellwire.email_outbox_finished,
      bellwire.webhook_deliveries_finished, bellwire.rule_failures_age;
    create index activity_log_age on bellwire.activity_log using brin (created_at);
    delete from bellwire.settings
    where name ~ '^(read_notification|deleted_notification|email|rule_failure)_retention_days$';
    insert into bellwire.applied_files (path, sha256) values ('functions/outbox/prune.sql', '')`);
  t.equal((await settings()).rows.length, before.length - 4);

  await admin.query(`begin; ${readFileSync(MIGRATION, 'utf8')}; commit`);
  t.strictSame((await settings()).rows, before, 'the figures are there');
  const { rows } = await admin.query(
    `select
       (select relrowsecurity and relforcerowsecurity from pg_class where oid = 'bellwire.settings'::regclass) as forced,
       to_regclass('bellwire.activity_log_age') is null as dropped,
       exists (select from bellwire.applied_files where path = 'functions/outbox/prune.sql') as noted`,
  );
  t.strictSame(rows, [{ forced: true, dropped: true, noted: false }]);
});
