import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { hashPassword } from '../../server/passwords.ts';
import { Client } from '../server/support/client.ts';
import { connect } from '../server/support/socket.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import {
  holdWriteBacks,
  renameArchive,
  setStage,
  startReceiver,
  subscribe,
  until,
} from '../worker/support.ts';
import { startProcess } from './process.ts';

const PASSWORD = 'correct horse battery staple';
const CUTS = 40;
/** From one cut to the next, so that they meet a process at different moments. */
const MOST_PAUSE_MS = 40;
const KINDS = ['bellwire worker', 'bellwire worker wake', 'bellwire-server'];

function startWorker(t: Test, database: TestDatabase) {
  return startProcess(t, ['worker'], {
    DATABASE_WORKER_URL: database.workerUrl,
    WORKER_PORT: '0',
    WEBHOOK_ALLOW: '127.0.0.0/8',
  });
}

async function cut(database: TestDatabase, kind: string) {
  await database.admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = $1`,
    [kind],
  );
}

t.test('connections that are cut at many moments end no process', async (t) => {
  const database = await createDatabase(t);
  const stage = await setStage(database, 1);
  await database.admin.query(
    'insert into identity.passwords (user_id, password_hash) select id, $1 from bellwire.users',
    [await hashPassword(PASSWORD)],
  );
  const receiver = await startReceiver(t);
  await subscribe(database, receiver.url);
  const worker = startWorker(t, database);
  const server = startProcess(t, ['server'], {
    DATABASE_SERVER_URL: database.serverUrl,
    PORT: '0',
  });
  const [address] = await Promise.all([server.address(), worker.address()]);
  const signIn = await new Client(address).post('/api/login', {
    email: 'grace.owner@example.com',
    password: PASSWORD,
  });
  const owner = new Client(address, signIn.pick<string>('token'));
  const { socket } = await connect(address, owner.token);

  let isOver = false;
  const write = async () => {
    for (let count = 0; !isOver; count += 1) {
      await renameArchive(database, stage, `Name ${count}`);
      const answer = await owner.get('/api/notifications');
      if (answer.status !== 200) t.equal(answer.status, 503, answer.text);
    }
  };
  const writer = write();
  for (let count = 0; count < CUTS; count += 1) {
    await delay((count * 7) % MOST_PAUSE_MS);
    await cut(database, KINDS[count % KINDS.length] ?? '');
  }
  isOver = true;
  await writer;

  await renameArchive(database, stage, 'After the storm');
  await until('everything is delivered', async () => {
    // A claim whose answer was lost is held for 30 seconds, which are made to take one.
    await database.admin.query(
      `update bellwire.webhook_deliveries set lease_expires_at = now()
        where state = 'pending' and lease_expires_at < now() + interval '29 seconds'`,
    );
    const { rows } = await database.admin.query(
      `select count(*)::int as events, count(*) filter (where delivery.state = 'delivered')::int as delivered
         from bellwire.webhook_events as event
         left join bellwire.webhook_deliveries as delivery on delivery.event_id = event.id`,
    );
    return rows[0].delivered === rows[0].events;
  });
  const last = receiver.received.at(-1)?.body.toString() ?? '{}';
  t.equal(JSON.parse(last).data.name, 'After the storm');
  await database.admin.query("select bellwire.notify($1, $2, 'mention', 'You')", [
    stage.ownerId,
    stage.workspaceId,
  ]);
  t.match(await socket.next(), { type: 'notification', notification: { title: 'You' } });
  for (const process of [server, worker]) {
    t.match(await process.end('SIGTERM'), { code: 0 }, process.output.slice(-2_000));
    t.match(process.stderr, /\nstopped cleanly on SIGTERM\n$/);
  }
});

t.test('a job that cannot be written back ends the queue’s runner and no more', async (t) => {
  const database = await createDatabase(t);
  const stage = await setStage(database, 0);
  const receiver = await startReceiver(t);
  await subscribe(database, receiver.url);
  const letGo = await holdWriteBacks(database);
  await database.admin.query(
    'revoke execute on function bellwire.drain_fan_out(integer) from bellwire_worker',
  );
  const worker = startWorker(t, database);
  // Its first look makes a job for each outbox, and one of them fails.
  const writingBack = await until('jobs are written back as done and as failed', async () => {
    const { rows } = await database.admin.query<{ pid: number; verb: string }>(
      `select pid, substring(ltrim(query) from '^\\w+') as verb from pg_stat_activity
        where datname = current_database() and application_name = 'bellwire worker'
          and wait_event = 'advisory'`,
    );
    return new Set(rows.map(({ verb }) => verb)).size === 2 && rows;
  });
  // Only a runner that starts reads it.
  const starting = await database.admin.connect();
  await starting.query('begin; lock table graphile_worker.migrations');
  await database.admin.query('select pg_terminate_backend(pid) from unnest($1::int[]) as pid', [
    writingBack.map(({ pid }) => pid),
  ]);
  await letGo();
  await renameArchive(database, stage, 'Renamed');
  await until('the webhook has arrived', () => receiver.received.length === 1);

  await until('the runner is being started again', async () => {
    const { rows } = await database.admin.query(
      `select 1 from pg_locks where not granted and relation = 'graphile_worker.migrations'::regclass`,
    );
    return rows.length > 0;
  });
  worker.kill('SIGTERM');
  await worker.says(/Stopping/);
  await starting.query('commit');
  starting.release();
  t.match(await worker.exit, { code: 0 });
  t.match(worker.stderr, /\nstopped cleanly on SIGTERM\n$/);
  t.notMatch(worker.output, /after calling end on the pool/, 'no runner outlives the pool');
});
