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
