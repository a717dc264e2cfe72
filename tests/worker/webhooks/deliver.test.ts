import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import { createDatabase } from '../../support/database.ts';
import {
  answerWith,
  closedPort,
  deliveriesOf,
  renameArchive,
  setStage,
  startReceiver,
  startWorker,
  subscribe,
  subscriptionRow,
  until,
} from '../support.ts';

const SEND_TIMEOUT_MS = 1_500;
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

async function open(t: Test) {
  const database = await createDatabase(t);
  const stage = await setStage(database);
  const worker = () =>
    startWorker(t, { databaseUrl: database.workerUrl, sendTimeoutMs: SEND_TIMEOUT_MS });
  return { database, stage, worker };
}

t.test('events arrive in order, byte for byte, signed twice', async (t) => {
  const { database, stage, worker } = await open(t);
  const receiver = await startReceiver(t);
  const { id, secret } = await subscribe(database, receiver.url);
  await worker();
  for (let i = 1; i <= 20; i += 1) await renameArchive(database, stage, `Name ${i} “ü” 🚀`);
  await until('all have arrived', () => receiver.received.length === 20);
  const deliveries = await until('all are recorded', async () => {
    const rows = await deliveriesOf(database, id);
    return rows.every(({ state }) => state === 'delivered') && rows;
  });

  for (const [index, request] of receiver.received.entries()) {
    t.ok(request.body.equals(deliveries[index]?.body ?? Buffer.alloc(0)), 'the stored bytes');
    const event = new Webhook(secret).verify(request.body, request.headers) as {
      id: string;
      sequence: number;
      type: string;
      data: { name: string };
    };
    t.equal(event.data.name, `Name ${index + 1} “ü” 🚀`);
    t.match(request.headers, {
      'x-codex-signature-256': `sha256=${createHmac('sha256', secret).update(request.body).digest('hex')}`,
      'x-codex-event': 'archive.rename',
      'x-codex-delivery': event.id,
      'webhook-id': event.id,
      'x-codex-position': String(index + 1),
      'content-type': 'application/json',
    });
  }
  t.equal(receiver.mostAtOnce(), 1, 'never two at once to one receiver');
});

t.test('every answer and what becomes of it', async (t) => {
  const { database, stage, worker } = await open(t);
  const hanging = await startReceiver(t, () => {});
  const receivers = {
    200: await startReceiver(t, answerWith(200)),
    299: await startReceiver(t, answerWith(299)),
    302: await startReceiver(t, (_request, response) =>
      response.writeHead(302, { Location: '/elsewhere' }).end(),
    ),
    410: await startReceiver(t, answerWith(410)),
    422: await startReceiver(t, answerWith(422)),
    500: await startReceiver(t, answerWith(500)),
  };
  const failed = { state: 'pending', isEnabled: true, pause: 10 };
  const rows: [name: string, url: string, wanted: Wanted][] = [
    ['200', receivers[200].url, { state: 'delivered', status: 200, isEnabled: true }],
    ['299', receivers[299].url, { state: 'delivered', status: 299, isEnabled: true }],
    ['410', receivers[410].url, { state: 'pending', status: 410, isEnabled: false, reason: /410/ }],
    ['422', receivers[422].url, { state: 'dead', status: 422, isEnabled: true }],
    ['302', receivers[302].url, { ...failed, status: 302, error: /redirects are not followed/ }],
    ['500', receivers[500].url, { ...failed, status: 500, error: /HTTP 500/ }],
    ['time-out', hanging.url, { ...failed, status: null, error: /ETIMEDOUT/ }],
    [
      'nobody there',
      `http://127.0.0.1:${await closedPort()}/`,
      { ...failed, status: null, error: /ECONNREFUSED/ },
    ],
    [
      'no such name',
      'http://receiver.invalid/',
      { ...failed, status: null, error: /could not be resolved/ },
    ],
    [
      'refused address',
      'http://10.1.2.3/',
      { state: 'pending', status: null, isEnabled: false, reason: /10\.1\.2\.3 is not a public/ },
    ],
  ];
  const ids: number[] = [];
  for (const [, url] of rows) ids.push((await subscribe(database, url)).id);
  await worker();
  await renameArchive(database, stage, 'Renamed');

  for (const [index, [name, , wanted]] of rows.entries()) {
    const id = ids[index] ?? 0;
    const delivery = await until(`${name} is recorded`, async () => {
      const [row] = await deliveriesOf(database, id);
      return row?.last_attempt_at && row.leased_by === null && row;
    });
    const subscription = await subscriptionRow(database, id);
    await t.test(name, async (t) => {
      t.equal(delivery.state, wanted.state);
      t.equal(delivery.last_status, wanted.status);
      t.match(delivery.last_error ?? '', wanted.error ?? /^(HTTP \d+|.* is not .*|)$/);
      t.equal(subscription.is_enabled, wanted.isEnabled);
      t.match(subscription.disabled_reason ?? '', wanted.reason ?? /^$/);
      t.equal(subscription.consecutive_failures, wanted.pause ? 1 : 0);
      if (wanted.pause) {
        const pause = subscription.pause_seconds ?? 0;
        t.ok(pause > wanted.pause - 5 && pause <= wanted.pause, `paused for ${pause} s`);
      }
    });
  }
  t.equal(receivers[302].received.length, 1, 'a redirect is not followed');
});

interface Wanted {
  state: string;
  status: number | null;
  isEnabled: boolean;
  pause?: number;
  error?: RegExp;
  reason?: RegExp;
}

t.test('what is behind a failed head waits, and comes in order when the pause ends', async (t) => {
  const { database, stage, worker } = await open(t);
  let isBroken = true;
  const receiver = await startReceiver(t, (_request, response) =>
    response.writeHead(isBroken ? 500 : 204).end(),
  );
  const { id } = await subscribe(database, receiver.url);
  await worker();
  for (let i = 1; i <= 3; i += 1) await renameArchive(database, stage, `Name ${i}`);
  await until('the first has failed', async () => {
    return (await subscriptionRow(database, id)).consecutive_failures === 1;
  });
  isBroken = false;
  await database.admin.query(
    `update bellwire.webhook_subscriptions
        set paused_until = clock_timestamp() + interval '200 milliseconds' where id = $1`,
    [id],
  );
  // Whoever runs the pump next sees the nearer end of the pause; a wake-up makes it run.
  await renameArchive(database, stage, 'Name 4');
  await until('all have arrived', () => receiver.received.length === 5);
  const names = receiver.received.map(({ body }) => JSON.parse(body.toString()).data.name);
  t.strictSame(names, ['Name 1', 'Name 1', 'Name 2', 'Name 3', 'Name 4']);
  const positions = receiver.received.map(({ headers }) => headers['x-codex-position']);
  t.strictSame(positions, ['1', '1', '2', '3', '4'], 'the same position at every attempt');
  t.match(await subscriptionRow(database, id), { consecutive_failures: 0, pause_seconds: null });
  const stamps = receiver.received.map(({ headers }) => headers['webhook-id']);
  t.equal(stamps[0], stamps[1], 'and the same id');
});

t.test('older than 72 hours: given up without a send, and the next one follows', async (t) => {
  const { database, stage, worker } = await open(t);
  const receiver = await startReceiver(t);
  const { id } = await subscribe(database, receiver.url);
  await renameArchive(database, stage, 'Old');
  await database.admin.query(
    "update bellwire.webhook_events set occurred_at = now() - interval '73 hours'",
  );
  await renameArchive(database, stage, 'New');
  await worker();
  await until('the new one has arrived', () => receiver.received.length === 1);
  t.equal(receiver.received[0]?.headers['x-codex-position'], '2', 'a gap says that one is missing');
  await until('both are finished', async () => {
    const states = (await deliveriesOf(database, id)).map(({ state }) => state);
    return states.join() === 'dead,delivered';
  });
  t.match((await deliveriesOf(database, id))[0], { last_error: 'expired after 72h' });
});

t.test('an endless backlog and a hanging receiver delay nobody else', async (t) => {
  const { database, stage, worker } = await open(t);
  const hanging = await startReceiver(t, () => {});
  const quick = await startReceiver(t);
  await subscribe(database, hanging.url);
  await subscribe(database, quick.url);
  await startWorker(t, { databaseUrl: database.workerUrl, sendTimeoutMs: 8_000 });
  await renameArchive(database, stage, 'First');
  await until('the hanging one has its request', () => hanging.received.length === 1);
  const startedAt = Date.now();
  for (let i = 1; i <= 10; i += 1) await renameArchive(database, stage, `Name ${i}`);
  await until('the quick one has all', () => quick.received.length === 11);
  t.ok(Date.now() - startedAt < 5_000, 'long before the time-out');
  t.equal(hanging.received.length, 1);
  void worker;
});

t.test('two workers share the load and send each delivery once, in order', async (t) => {
  const { database, stage, worker } = await open(t);
  const receivers = [];
  for (let i = 0; i < 5; i += 1) {
    const receiver = await startReceiver(t);
    await subscribe(database, receiver.url);
    receivers.push(receiver);
  }
  await Promise.all([worker(), worker()]);
  for (let i = 1; i <= 30; i += 1) await renameArchive(database, stage, `Name ${i}`);
  for (const receiver of receivers) {
    await until('all have arrived', () => receiver.received.length >= 30);
  }
  await until('all are recorded', async () => {
    const { rows } = await database.admin.query(
      "select count(*)::int as count from bellwire.webhook_deliveries where state <> 'delivered'",
    );
    return rows[0].count === 0;
  });
  const wanted = Array.from({ length: 30 }, (_, index) => String(index + 1));
  for (const receiver of receivers) {
    t.strictSame(
      receiver.received.map(({ headers }) => headers['x-codex-position']),
      wanted,
    );
    t.equal(receiver.mostAtOnce(), 1);
  }
});

t.test('a lease that was taken over: the late worker changes nothing', async (t) => {
  const { database, stage, worker } = await open(t);
  let release = () => {};
  const receiver = await startReceiver(t, (_request, response) => {
    if (receiver.received.length > 1) response.writeHead(204).end();
    else release = () => response.writeHead(500).end();
  });
  const { id } = await subscribe(database, receiver.url);
  await startWorker(t, { databaseUrl: database.workerUrl, sendTimeoutMs: 8_000 });
  await renameArchive(database, stage, 'Renamed');
  await until('the first worker is waiting for the answer', () => receiver.received.length === 1);
  await database.admin.query(
    "update bellwire.webhook_deliveries set lease_expires_at = now() - interval '1 second'",
  );
  await worker();
  await until('another one has delivered it', async () => {
    return (await deliveriesOf(database, id))[0]?.state === 'delivered';
  });
  release();
  await renameArchive(database, stage, 'Again');
  await until('the next one is delivered', async () => {
    return (await deliveriesOf(database, id))[1]?.state === 'delivered';
  });
  t.match((await deliveriesOf(database, id))[0], { state: 'delivered', last_status: 204 });
  t.match(await subscriptionRow(database, id), { consecutive_failures: 0, is_enabled: true });
});

t.test('during a rotation both secrets sign', async (t) => {
  const { database, stage, worker } = await open(t);
  const receiver = await startReceiver(t);
  const { id, secret } = await subscribe(database, receiver.url);
  const newest = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  await database.admin.query(
    "update bellwire.webhook_secrets set expires_at = now() + interval '24 hours'",
  );
  await database.admin.query(
    'insert into bellwire.webhook_secrets (subscription_id, secret) values ($1, $2)',
    [id, newest],
  );
  await worker();
  await renameArchive(database, stage, 'Renamed');
  const [request] = await until(
    'it arrived',
    () => receiver.received.length === 1 && receiver.received,
  );
  if (!request) throw new Error('unreachable');
  t.ok(new Webhook(secret).verify(request.body, request.headers));
  t.ok(new Webhook(newest).verify(request.body, request.headers));
  const hex = createHmac('sha256', newest).update(request.body).digest('hex');
  t.equal(request.headers['x-codex-signature-256'], `sha256=${hex}`, 'the newest one');
});

t.test('writers that are in the middle of emitting do not hold up the claim', async (t) => {
  const { database, stage, worker } = await open(t);
  const receiver = await startReceiver(t);
  await subscribe(database, receiver.url);
  await worker();
  const writer = await database.admin.connect();
  try {
    await writer.query('begin');
    await writer.query("update suite.archives set name = 'Not yet' where id = $1", [
      stage.archiveId,
    ]);
    await database.admin.query(
      "insert into suite.archives (squad_id, name) select squad_id, 'Other' from suite.archives limit 1",
    );
    await database.admin.query("update suite.archives set name = 'Done' where name = 'Other'");
    await until('the committed one has arrived', () => receiver.received.length === 1);
    await writer.query('commit');
    await until('the late one too', () => receiver.received.length === 2);
  } finally {
    writer.release();
  }
  t.pass('both arrived');
});

t.test('switched off or deleted between the claim and the send: not sent to', async (t) => {
  for (const change of [
    'select bellwire.disable_webhook_subscription($1)',
    'select bellwire.delete_webhook_subscription($1)',
  ]) {
    const { database, stage } = await open(t);
    const receiver = await startReceiver(t);
    const { id } = await subscribe(database, `http://slow.example:${receiver.port}/`);
    const other = await startReceiver(t);
    await subscribe(database, other.url);
    let answer: ((addresses: string[]) => void) | undefined;
    const lines: string[] = [];
    await startWorker(t, {
      databaseUrl: database.workerUrl,
      resolve: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
      logger: { ...SILENT, info: (_fields, message) => lines.push(message) },
    });
    await renameArchive(database, stage, 'Renamed');
    await until('its address is being looked up', () => answer !== undefined);
    const lookedUpAt = Date.now();
    await database.admin.query(change, [id]);
    await until('another one is not kept by it', () => other.received.length === 1);
    // What the database said at the claim is old by then.
    await until('a moment has passed', () => Date.now() - lookedUpAt > 300);
    answer?.(['127.0.0.1']);
    await until('it was noticed', () => lines.includes('webhook lease lost before the send'));
    t.equal(receiver.received.length, 0, change);
  }
});

t.test('a run stops as soon as its subscription is switched off', async (t) => {
  const { database, stage, worker } = await open(t);
  const receiver = await startReceiver(t, async (_request, response) => {
    if (receiver.received.length === 2)
      await database.admin.query('select bellwire.disable_webhook_subscription($1)', [id]);
    response.writeHead(204).end();
  });
  const { id } = await subscribe(database, receiver.url);
  for (let i = 1; i <= 5; i += 1) await renameArchive(database, stage, `Name ${i}`);
  await worker();
  const states = async () => (await deliveriesOf(database, id)).map(({ state }) => state).join();
  const two = 'delivered,delivered,pending,pending,pending';
  await until('two are delivered', async () => (await states()) === two);
  await until('nothing is leased', async () =>
    (await deliveriesOf(database, id)).every(({ leased_by }) => leased_by === null),
  );
  t.equal(receiver.received.length, 2);
});

t.test(
  'a new address and a new secret count from the next delivery on, in the middle of a run',
  async (t) => {
    const { database, stage, worker } = await open(t);
    let secret = '';
    const newer = await startReceiver(t, async (_request, response) => {
      if (newer.received.length === 2) {
        const { rows } = await database.admin.query(
          'select secret from bellwire.rotate_webhook_secret($1, false)',
          [id],
        );
        secret = rows[0].secret;
      }
      response.writeHead(204).end();
    });
    const older = await startReceiver(t, async (_request, response) => {
      if (older.received.length === 2) {
        await database.admin.query(
          'select bellwire.change_webhook_subscription($1, $2, null, null)',
          [id, newer.url],
        );
      }
      response.writeHead(204).end();
    });
    const { id, secret: first } = await subscribe(database, older.url);
    for (let i = 1; i <= 8; i += 1) await renameArchive(database, stage, `Name ${i}`);
    await worker();
    await until('all have arrived', () => newer.received.length === 6);
    const positions = ({ received }: typeof newer) =>
      received.map(({ headers }) => headers['x-codex-position']).join();
    t.equal(positions(older), '1,2');
    t.equal(positions(newer), '3,4,5,6,7,8');
    const isBy = (each: string) =>
      newer.received.map(({ body, headers }) => {
        const digest = createHmac('sha256', each).update(body).digest('hex');
        return headers['x-codex-signature-256'] === `sha256=${digest}`;
      });
    t.strictSame(isBy(first), [true, true, false, false, false, false]);
    t.strictSame(isBy(secret), [false, false, true, true, true, true]);
  },
);

t.test('a receiver that somebody holds locked keeps no other one', async (t) => {
  const { database, stage, worker } = await open(t);
  let isHeld = false;
  const held = await startReceiver(t, (_request, response) => {
    const answer = () => (isHeld ? response.writeHead(500).end() : setTimeout(answer, 10));
    answer();
  });
  const other = await startReceiver(t);
  const { id } = await subscribe(database, held.url);
  await subscribe(database, other.url);
  await worker();
  await renameArchive(database, stage, 'First');
  await until('it is being sent', () => held.received.length === 1);
  const holder = await database.admin.connect();
  await holder.query('begin');
  await holder.query('select from bellwire.webhook_subscriptions where id = $1 for update', [id]);
  isHeld = true;
  const at = Date.now();
  for (let i = 1; i <= 50; i += 1) await renameArchive(database, stage, `Name ${i}`);
  await until('the other one has all', () => other.received.length === 51);
  t.ok(Date.now() - at < 10_000, 'within the time a send has');
  await holder.query('rollback');
  holder.release();
});

t.test('a subscription without a secret pauses; every attempt is told of', async (t) => {
  const { database, stage } = await open(t);
  const receiver = await startReceiver(t);
  const { id } = await subscribe(database, receiver.url);
  const signed = await subscribe(database, receiver.url);
  await database.admin.query('delete from bellwire.webhook_secrets where subscription_id = $1', [
    id,
  ]);
  const attempts: { outcome: string; seconds: number; subscriptionId: number }[] = [];
  await startWorker(t, {
    databaseUrl: database.workerUrl,
    onWebhookAttempt: (attempt) => attempts.push(attempt),
  });
  await renameArchive(database, stage, 'Renamed');
  await until('both were told of', () => attempts.length === 2);
  const outcomes = new Map(attempts.map((each) => [each.subscriptionId, each.outcome]));
  t.equal(outcomes.get(id), 'paused');
  t.equal(outcomes.get(signed.id), 'delivered');
  t.ok(attempts.every(({ seconds }) => seconds >= 0 && seconds < 10));
  t.equal(receiver.received.length, 1, 'nothing is sent unsigned');
  t.match((await deliveriesOf(database, id))[0], {
    attempts: 1,
    last_error: 'The subscription has no secret to sign with.',
  });
});

t.test('a success that comes after the lease was lost ends no pause', async (t) => {
  const { database, stage } = await open(t);
  let release = () => {};
  const receiver = await startReceiver(t, (_request, response) => {
    if (receiver.received.length > 1) response.writeHead(500).end();
    else release = () => response.writeHead(200).end();
  });
  const { id } = await subscribe(database, receiver.url);
  const outcomes: string[] = [];
  const options = {
    databaseUrl: database.workerUrl,
    sendTimeoutMs: 8_000,
    onWebhookAttempt: ({ outcome }: { outcome: string }) => outcomes.push(outcome),
  };
  await startWorker(t, options);
  await renameArchive(database, stage, 'Renamed');
  await until('the first worker is waiting for the answer', () => receiver.received.length === 1);
  await database.admin.query(
    "update bellwire.webhook_deliveries set lease_expires_at = now() - interval '1 second'",
  );
  await startWorker(t, options);
  await until('another one has failed', () => outcomes.includes('paused'));
  release();
  await until('the late success is written', () => outcomes.includes('stale'));
  t.match((await deliveriesOf(database, id))[0], { state: 'pending', last_status: 500 });
  t.match(await subscriptionRow(database, id), { consecutive_failures: 1 });
});

t.test('a run that takes longer than a lease keeps it, and sends each once', async (t) => {
  const { database, stage } = await open(t);
  await database.admin.query(
    "update bellwire.settings set value = 2 where name = 'webhook_lease_seconds'",
  );
  const receiver = await startReceiver(t, (_request, response) => {
    setTimeout(() => response.writeHead(204).end(), 450);
  });
  const { id } = await subscribe(database, receiver.url);
  for (let i = 1; i <= 7; i += 1) await renameArchive(database, stage, `Name ${i}`);
  const options = { databaseUrl: database.workerUrl, sendTimeoutMs: 8_000, pollSeconds: 0.1 };
  await Promise.all([startWorker(t, options), startWorker(t, options)]);
  await until('all are delivered', async () =>
    (await deliveriesOf(database, id)).every(({ state }) => state === 'delivered'),
  );
  const positions = receiver.received.map(({ headers }) => headers['x-codex-position']);
  t.strictSame(positions, ['1', '2', '3', '4', '5', '6', '7']);
  t.equal(receiver.mostAtOnce(), 1);
});
