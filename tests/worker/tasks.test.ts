import t from 'tap';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import {
  deliveriesOf,
  renameArchive,
  setStage,
  startReceiver,
  startWorker,
  subscribe,
  until,
} from './support.ts';

async function addJob(database: TestDatabase, task: string) {
  await database.asWorker((client) => client.query('select graphile_worker.add_job($1)', [task]));
}

t.test('rows-prune deletes what is past its retention, and jobs that will never run', async (t) => {
  const database = await createDatabase(t);
  const stage = await setStage(database);
  const receiver = await startReceiver(t);
  const { id } = await subscribe(database, receiver.url);
  await startWorker(t, { databaseUrl: database.workerUrl });
  await renameArchive(database, stage, 'Old');
  await renameArchive(database, stage, 'New');
  await until('both are delivered', async () => {
    const states = (await deliveriesOf(database, id)).map(({ state }) => state);
    return states.join() === 'delivered,delivered';
  });
  await database.admin.query(
    `with old as (
       update bellwire.webhook_events set created_at = now() - interval '31 days'
        where id = (select min(id) from bellwire.webhook_events) returning id)
     update bellwire.webhook_deliveries set created_at = now() - interval '31 days'
      where event_id in (select id from old)`,
  );
  // What a killed worker leaves behind: out of attempts, and unlocked at last.
  await database.admin.query(
    `with added as (select (graphile_worker.add_job('fan-out-drain', run_at => now() + interval '1 day')).id)
     select from added`,
  );
  await database.admin.query(
    'update graphile_worker._private_jobs set attempts = max_attempts where run_at > now()',
  );
  await addJob(database, 'rows-prune');
  await until('the old ones are gone', async () => {
    const { rows } = await database.admin.query(
      `select (select count(*)::int from bellwire.webhook_deliveries) as deliveries,
              (select count(*)::int from bellwire.webhook_events) as events`,
    );
    return rows[0].deliveries === 1 && rows[0].events === 1;
  });
  await until('no job is left', async () => {
    const { rows } = await database.admin.query('select from graphile_worker._private_jobs');
    return rows.length === 0;
  });
  t.pass('only the new ones are left');
});

t.test('rows-prune: a transaction per batch, and one trouble does not keep the rest', async (t) => {
  const database = await createDatabase(t);
  const client = await database.admin.connect();
  await client.query('set session_replication_role = replica');
  await client.query(
    `insert into bellwire.activity_log (workspace_id, scope_id, action, resource_id, created_at)
     select 1, 1, 'log.update', 1, now() - interval '366 days' from generate_series(1, 2500)`,
  );
  await client.query('reset session_replication_role');
  client.release();
  // Which transactions delete, and a table whose retention fails before that of the log comes.
  await database.admin.query(`
    create schema host;
    create table host.batches (transaction xid8, deleted bigint);
    grant usage on schema host to bellwire_definer;
    grant insert on host.batches to bellwire_definer;
    create function host.note() returns trigger language plpgsql as $$
      begin
        insert into host.batches select pg_current_xact_id(), count(*) from gone;
        return null;
      end $$;
    create trigger note after delete on bellwire.activity_log referencing old table as gone
      for each statement execute function host.note();
    alter table bellwire.email_outbox rename column state to another`);
  await startWorker(t, { databaseUrl: database.workerUrl });
  await addJob(database, 'rows-prune');
  await until('the log is pruned', async () => {
    const { rows } = await database.admin.query('select from bellwire.activity_log limit 1');
    return rows.length === 0;
  });
  const { rows } = await database.admin.query(
    'select sum(deleted)::int as deleted from host.batches group by transaction order by 1',
  );
  t.strictSame(
    rows.map(({ deleted }) => deleted),
    [500, 1000, 1000],
  );
  const failed = await until('the job has failed', async () => {
    const { rows: jobs } = await database.admin.query(
      'select last_error from graphile_worker._private_jobs where last_error is not null',
    );
    return jobs[0]?.last_error as string | undefined;
  });
  t.match(failed, /"state" does not exist/, 'and says why');
});

t.test('backlog-sweep finds what no wake-up told of', async (t) => {
  const database = await createDatabase(t);
  const stage = await setStage(database);
  const receiver = await startReceiver(t);
  await subscribe(database, receiver.url);
  const wakesHeld = await database.admin.connect();
  try {
    await startWorker(t, { databaseUrl: database.workerUrl, pollSeconds: 3_600 });
    await renameArchive(database, stage, 'First');
    await until('the worker is up', () => receiver.received.length === 1);
    await wakesHeld.query('begin');
    await wakesHeld.query("select pg_advisory_xact_lock(7300, hashtext('bellwire_webhooks'))");
    await renameArchive(database, stage, 'Second');
    await addJob(database, 'backlog-sweep');
    await until('the second has arrived', () => receiver.received.length === 2);
    await wakesHeld.query('commit');
  } finally {
    wakesHeld.release();
  }
  t.pass('both arrived');
});
