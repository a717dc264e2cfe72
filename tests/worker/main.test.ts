import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { runWorker } from '../../worker/main.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import {
  actAs,
  deliveriesOf,
  renameArchive,
  setStage,
  startMailServer,
  startReceiver,
  startWorker,
  subscribe,
  until,
} from './support.ts';

/** Far below the ten seconds after which a stop gives up on what hangs. */
const PROMPT_MS = 5_000;
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
/** Only a wake-up can be why something happened. */
const NEVER_POLLS = 3_600;
const METRICS_TOKEN = 'a-token-of-sixteen-and-more';
const PEOPLE = 5;
const CHUNK_PEOPLE = 2;
/** Two full ones, and the last that is not. */
const CHUNKS = 3;
/** Well above the second look of a pump that found nothing. */
const QUIET_MS = 500;

async function open(t: Test, members = 2) {
  const database = await createDatabase(t);
  return { database, stage: await setStage(database, members) };
}

/** While it is held, `bellwire.wake()` sends no NOTIFY for the channel. */
async function withoutWakes(database: TestDatabase, channel: string, use: () => Promise<void>) {
  const client = await database.admin.connect();
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock(7300, hashtext($1))', [channel]);
    await use();
    await client.query('commit');
  } finally {
    client.release();
  }
}

async function untilListening(database: TestDatabase) {
  await until('the worker listens', async () => {
    const { rows } = await database.admin.query(
      `select 1 from pg_stat_activity where datname = current_database()
          and application_name = 'bellwire worker wake' and query ilike 'listen%fan_out%' and state = 'idle'`,
    );
    return rows.length > 0;
  });
}

t.test('a NOTIFY is enough: webhooks, e-mails and fan-out without any poll', async (t) => {
  const { database, stage } = await open(t, 3);
  const receiver = await startReceiver(t);
  const mail = await startMailServer(t);
  await subscribe(database, receiver.url);
  await database.admin.query(
    "update bellwire.settings set value = 1 where name = 'sync_fanout_limit'",
  );
  for (const id of stage.memberIds) await watch(database, stage.logId, id);
  await startWorker(t, {
    databaseUrl: database.workerUrl,
    smtpUrl: mail.url,
    pollSeconds: NEVER_POLLS,
  });
  await untilListening(database);

  await renameArchive(database, stage, 'Renamed');
  await until('the webhook has arrived', () => receiver.received.length === 1);

  await actAs(
    database,
    stage.ownerId,
    'insert into suite.comments (log_id, squad_id, body, author_id) select id, squad_id, $1, $2 from suite.logs',
    ['Hello', stage.ownerId],
  );
  await until('everybody is told', async () => {
    const { rows } = await database.admin.query(
      "select count(*)::int as count from bellwire.notifications where kind = 'watched_comment'",
    );
    return rows[0].count === 3;
  });
  await until('and has a copy by e-mail', () => mail.mails.length === 3);
  const { rows } = await database.admin.query(
    'select count(*)::int as count from bellwire.fan_out_queue',
  );
  t.equal(rows[0].count, 0);
});

async function watch(database: TestDatabase, logId: number, userId: number) {
  await database.admin.query(
    `insert into bellwire.watches (resource_id, user_id, source)
     select id, $2, 'manual' from bellwire.resources where type = 'log' and ref = $1::text`,
    [logId, userId],
  );
}

t.test('drains that fail and chunks that are told are counted', async (t) => {
  const { database, stage } = await open(t, PEOPLE);
  await database.admin.query(
    `update bellwire.settings set value = case name when 'fanout_chunk' then $1 else 1 end
      where name in ('fanout_chunk', 'sync_fanout_limit')`,
    [CHUNK_PEOPLE],
  );
  await database.admin.query(
    'revoke execute on function bellwire.drain_fan_out(integer) from bellwire_worker',
  );
  for (const id of stage.memberIds) await watch(database, stage.logId, id);
  const { address } = await startWorker(t, {
    databaseUrl: database.workerUrl,
    pollSeconds: 0.2,
    probes: { host: '127.0.0.1', port: 0, metricsToken: METRICS_TOKEN },
  });
  const figure = async (name: string) => {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    const page = await (await fetch(`${address}/metrics`, { headers })).text();
    const line = page.split('\n').find((each) => each.startsWith(`${name} `));
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  const failures = 'bellwire_drain_errors_total{task="fan-out-drain"}';
  const chunks = 'bellwire_fan_out_chunks_total';
  await until('two runs have failed', async () => (await figure(failures)) >= 2);
  t.equal(await figure(chunks), 0);
  t.equal(await figure('bellwire_drain_errors_total{task="webhooks-sequence"}'), 0, 'not others');

  await database.admin.query(
    'grant execute on function bellwire.drain_fan_out(integer) to bellwire_worker',
  );
  await actAs(
    database,
    stage.ownerId,
    'insert into suite.comments (log_id, squad_id, body, author_id) select id, squad_id, $1, $2 from suite.logs',
    ['Hello', stage.ownerId],
  );
  await until('everybody is told', async () => {
    const { rows } = await database.admin.query(
      `select count(*)::int as told, (select count(*)::int from bellwire.fan_out_queue) as queued
         from bellwire.notifications where kind = 'watched_comment'`,
    );
    return rows[0].told === PEOPLE && rows[0].queued === 0;
  });
  await until('the last chunk is counted', async () => (await figure(chunks)) >= CHUNKS);
  t.equal(await figure(chunks), CHUNKS);
});

t.test('what an administrator makes pending is sent at once', async (t) => {
  const { database, stage } = await open(t);
  let status = 204;
  const receiver = await startReceiver(t, (_request, response) => response.writeHead(status).end());
  const { id } = await subscribe(database, receiver.url);
  await startWorker(t, { databaseUrl: database.workerUrl, pollSeconds: NEVER_POLLS });
  await untilListening(database);
  const newest = async () => (await deliveriesOf(database, id)).at(-1);
  /** Renames, and waits for what came of it, until the worker looks no more. */
  const send = async (name: string, answer: number) => {
    status = answer;
    const before = receiver.received.length;
    await renameArchive(database, stage, name);
    await until('it is written down', async () => (await newest())?.last_status === answer);
    t.equal(receiver.received.length, before + 1);
    const at = Date.now();
    await until('nobody looks any more', () => Date.now() - at > QUIET_MS);
    status = 204;
  };
  const arrives = async (what: string, call: string, value: unknown) => {
    const before = receiver.received.length;
    await database.admin.query(`select bellwire.${call}`, [value]);
    const at = Date.now();
    await until(what, () => receiver.received.length > before);
    t.ok(Date.now() - at < PROMPT_MS, what);
  };
  await send('One', 410);
  await arrives('enabled', 'enable_webhook_subscription($1)', id);
  await send('Two', 422);
  await arrives('redelivered', 'redeliver_webhook($1)', (await newest())?.id);
  await send('Three', 200);
  await arrives('replayed', 'replay_webhooks($1, null, 3)', id);
  await send('Four', 500);
  const head = (await newest())?.id;
  await database.admin.query(
    "update bellwire.webhook_subscriptions set paused_until = now() + interval '1 hour'",
  );
  await renameArchive(database, stage, 'Five');
  const at = Date.now();
  await until('nobody looks any more', () => Date.now() - at > QUIET_MS);
  await arrives('what was behind the skipped one', 'skip_webhook_delivery($1)', head);
});

t.test('a missed NOTIFY costs no more than the poll', async (t) => {
  const { database, stage } = await open(t);
  const receiver = await startReceiver(t);
  await subscribe(database, receiver.url);
  await startWorker(t, { databaseUrl: database.workerUrl, pollSeconds: 0.3 });
  await untilListening(database);
  await withoutWakes(database, 'bellwire_webhooks', async () => {
    await renameArchive(database, stage, 'Renamed');
    await until('the webhook has arrived', () => receiver.received.length === 1);
  });
  t.pass('it arrived');
});

t.test('what was committed while nobody ran is found at the start', async (t) => {
  const { database, stage } = await open(t);
  const receiver = await startReceiver(t);
  await subscribe(database, receiver.url);
  await renameArchive(database, stage, 'Renamed');
  await startWorker(t, { databaseUrl: database.workerUrl, pollSeconds: NEVER_POLLS });
  await until('the webhook has arrived', () => receiver.received.length === 1);
  t.pass('it arrived');
});

t.test('lost connections come back by themselves', async (t) => {
  const { database, stage } = await open(t);
  const receiver = await startReceiver(t);
  await subscribe(database, receiver.url);
  await startWorker(t, { databaseUrl: database.workerUrl, pollSeconds: NEVER_POLLS });
  await untilListening(database);
  await database.admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name like 'bellwire worker%'`,
  );
  await renameArchive(database, stage, 'First');
  await until('the first has arrived', () => receiver.received.length === 1);
  await untilListening(database);
  await renameArchive(database, stage, 'Second');
  await until('the second has arrived', () => receiver.received.length === 2);
  t.pass('both arrived');
});

t.test('a killed worker blocks nothing: its job, its lease and its claim', async (t) => {
  const { database, stage } = await open(t);
  let isStuck = true;
  const receiver = await startReceiver(t, (_request, response) => {
    if (!isStuck) response.writeHead(204).end();
  });
  const { id } = await subscribe(database, receiver.url);
  const child = startWorkerProcess(t, database);
  await renameArchive(database, stage, 'First');
  await until('the doomed worker is sending', () => receiver.received.length === 1);
  const { rows: locked } = await database.admin.query(
    'select count(*)::int as count from graphile_worker._private_jobs where locked_at is not null',
  );
  child.kill('SIGKILL');
  await once(child, 'exit');
  t.ok(locked[0].count > 0, 'its job is locked, and stays so for four hours');
  isStuck = false;

  await startWorker(t, { databaseUrl: database.workerUrl, pollSeconds: 0.2 });
  await renameArchive(database, stage, 'Second');
  // What would take the 30 seconds of the lease is made to take none.
  await database.admin.query(
    'update bellwire.webhook_deliveries set lease_expires_at = now() where leased_by is not null',
  );
  await until('both have arrived', async () => {
    const states = (await deliveriesOf(database, id)).map(({ state }) => state);
    return states.join() === 'delivered,delivered';
  });
  const names = receiver.received.map(({ body }) => JSON.parse(body.toString()).data.name);
  t.strictSame(names, ['First', 'First', 'Second']);
});

function startWorkerProcess(t: Test, database: TestDatabase): ChildProcess {
  const main = path.resolve(import.meta.dirname, '../../worker/main.ts');
  const script = `
    import { runWorker } from ${JSON.stringify(main)};
    await runWorker({
      databaseUrl: ${JSON.stringify(database.workerUrl)},
      webhookAllow: ['127.0.0.0/8'],
    });`;
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', script],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

t.test('stop finishes what is in flight and takes nothing new', async (t) => {
  const { database, stage } = await open(t);
  let answerFirst = () => {};
  const receiver = await startReceiver(t, (_request, response) => {
    const answer = () => response.writeHead(204).end();
    if (receiver.received.length > 1) answer();
    else answerFirst = answer;
  });
  const { id } = await subscribe(database, receiver.url);
  const worker = await startWorker(t, { databaseUrl: database.workerUrl });
  for (let i = 1; i <= 20; i += 1) await renameArchive(database, stage, `Name ${i}`);
  await until('the first is being sent', () => receiver.received.length === 1);
  const stopped = worker.stop();
  answerFirst();
  await stopped;
  await worker.stop();
  const deliveries = await deliveriesOf(database, id);
  const delivered = deliveries.filter(({ state }) => state === 'delivered').length;
  t.equal(delivered, receiver.received.length, 'what was sent is recorded');
  // A claim that was on its way when the stop came is still honoured.
  t.ok(delivered >= 1 && delivered <= 2, `${delivered} of 20 were sent`);
  t.ok(
    deliveries.every(({ leased_by }) => leased_by === null),
    'nothing is left leased',
  );
  await until('its connections are closed', async () => {
    const { rows } = await database.admin.query(
      "select 1 from pg_stat_activity where datname = current_database() and application_name like 'bellwire worker%'",
    );
    return rows.length === 0;
  });
});

t.test('stop is prompt at any moment of the start', async (t) => {
  const { database } = await open(t);
  for (let delayMs = 0; delayMs < 60; delayMs += 4) {
    const worker = await runWorker({ databaseUrl: database.workerUrl, logger: SILENT });
    await delay(delayMs);
    const startedAt = Date.now();
    await worker.stop();
    const took = Date.now() - startedAt;
    t.ok(took < PROMPT_MS, `after ${delayMs} ms of running it took ${took} ms`);
  }
});

t.test('stop does not wait for ever', async (t) => {
  const { database, stage } = await open(t);
  const receiver = await startReceiver(t, () => {});
  const { id } = await subscribe(database, receiver.url);
  const worker = await startWorker(t, { databaseUrl: database.workerUrl, sendTimeoutMs: 60_000 });
  await renameArchive(database, stage, 'First');
  await until('it is being sent', () => receiver.received.length === 1);
  const startedAt = Date.now();
  await worker.stop();
  t.ok(Date.now() - startedAt < 13_000);
  // Nobody knows what the receiver saw, so nothing is written: the lease lapses by itself.
  t.match((await deliveriesOf(database, id))[0], { state: 'pending', attempts: 0 });
});

t.test('a start that cannot work says why', async (t) => {
  const { database } = await open(t, 0);
  const databaseUrl = database.workerUrl;
  await t.rejects(runWorker({ databaseUrl, webhookAllow: ['10.0.0.0/99'] }), /"10\.0\.0\.0\/99"/);
  await t.rejects(runWorker({ databaseUrl, smtpUrl: 'http://mail' }), /SMTP URL/);
  await t.rejects(runWorker({ databaseUrl, webhookHeaderPrefix: 'a b' }), /header prefix/);
  await t.rejects(runWorker({ databaseUrl: 'postgres://nobody:x@127.0.0.1:1/x' }), /ECONNREFUSED/);
});
