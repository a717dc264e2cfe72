import t from 'tap';
import { createStage, refused, type Stage } from '../fixtures.ts';
import { delivery, emit, endPauses, subscribe, subscription, Worker } from './webhooks.ts';

async function setUp(t: Parameters<typeof createStage>[0]) {
  const stage = await createStage(t);
  const { id } = await subscribe(stage);
  await emit(stage, ['one', 'two']);
  return { stage, id, worker: new Worker(stage) };
}

async function lastChange(stage: Stage, id: number) {
  const [change] = await stage.byAdministrator(
    'select * from bellwire.webhook_changes where subscription_id = $1 order by id desc limit 1',
    [id],
  );
  return change;
}

t.test('2xx: delivered', async (t) => {
  for (const status of [200, 202, 204, 299]) {
    const { stage, worker, id } = await setUp(t);
    const claim = await worker.claimOne();
    t.equal(await worker.finish(claim, 'answered', status), 'delivered', String(status));
    t.match(await delivery(stage, claim.delivery_id), {
      state: 'delivered',
      last_status: status,
      last_error: null,
      leased_by: null,
      last_duration_ms: 12,
    });
    t.match(await subscription(stage, id), { is_enabled: true, consecutive_failures: 0 });
  }
});

t.test('410: the receiver is disabled, the delivery waits', async (t) => {
  const { stage, worker, id } = await setUp(t);
  const claim = await worker.claimOne();
  t.equal(await worker.finish(claim, 'answered', 410), 'disabled');
  t.match(await delivery(stage, claim.delivery_id), {
    state: 'pending',
    last_status: 410,
    leased_by: null,
  });
  t.match(await subscription(stage, id), {
    is_enabled: false,
    disabled_reason: 'receiver answered 410',
    consecutive_failures: 0,
  });
  t.strictSame(await worker.claim(), []);
  t.match(await lastChange(stage, id), {
    what: 'disabled',
    actor_id: null,
    database_role: 'bellwire_worker',
    details: { reason: 'receiver answered 410' },
  });
});

t.test('422: dead, the receiver is untouched, the next goes out', async (t) => {
  const { stage, worker, id } = await setUp(t);
  const claim = await worker.claimOne();
  t.equal(await worker.finish(claim, 'answered', 422), 'dead');
  t.match(await delivery(stage, claim.delivery_id), { state: 'dead', last_status: 422 });
  t.match(await subscription(stage, id), {
    is_enabled: true,
    consecutive_failures: 0,
    pause_seconds: null,
  });
  t.equal((await worker.claim()).length, 1);
  t.match(await lastChange(stage, id), { what: 'created' }, 'nothing was changed');
});

t.test('refused by the guard: disabled with its sentence', async (t) => {
  const { stage, worker, id } = await setUp(t);
  const claim = await worker.claimOne();
  t.equal(await worker.finish(claim, 'refused', null, 'the address is private'), 'disabled');
  t.match(await delivery(stage, claim.delivery_id), { state: 'pending', leased_by: null });
  t.match(await subscription(stage, id), {
    is_enabled: false,
    disabled_reason: 'the address is private',
  });
  t.match(await lastChange(stage, id), {
    what: 'disabled',
    details: { reason: 'the address is private' },
  });
});

t.test('anything else: one attempt more and a pause', async (t) => {
  for (const [result, status, error, noted] of [
    ['answered', 302, null, 'HTTP 302 (redirects are not followed)'],
    ['answered', 400, null, 'HTTP 400'],
    ['answered', 404, null, 'HTTP 404'],
    ['answered', 500, null, 'HTTP 500'],
    ['answered', 199, null, 'HTTP 199'],
    ['failed', null, 'ETIMEDOUT', 'ETIMEDOUT'],
    ['failed', null, '😀'.repeat(400), '😀'.repeat(255)],
    ['failed', 200, 'cut off', 'cut off'],
  ] as const) {
    const { stage, worker, id } = await setUp(t);
    const claim = await worker.claimOne();
    t.equal(await worker.finish(claim, result, status, error), 'paused', noted.slice(0, 40));
    t.match(await delivery(stage, claim.delivery_id), {
      state: 'pending',
      attempts: 1,
      last_status: status,
      last_error: noted,
      leased_by: null,
    });
    const state = await subscription(stage, id);
    t.match(state, { is_enabled: true, consecutive_failures: 1 });
    t.ok(Math.abs((state.pause_seconds as number) - 10) < 3, 'ten seconds');
    t.strictSame(await worker.claim(), [], 'nothing is sent meanwhile');
  }
});

t.test('the pauses: 10, 20, 40 … at most an hour', async (t) => {
  const { stage, worker, id } = await setUp(t);
  const pauses: number[] = [];
  for (let failure = 0; failure < 12; failure += 1) {
    await endPauses(stage);
    await worker.finish(await worker.claimOne(), 'failed', null, 'ECONNREFUSED');
    const { pause_seconds } = await subscription(stage, id);
    pauses.push(Math.round((pause_seconds as number) / 10) * 10);
  }
  t.strictSame(pauses, [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600, 3600]);

  await stage.look('update bellwire.webhook_subscriptions set consecutive_failures = 2000000000');
  await endPauses(stage);
  await worker.finish(await worker.claimOne(), 'failed', null, 'x');
  t.ok(
    Math.abs(((await subscription(stage, id)).pause_seconds as number) - 3600) < 5,
    'however often it failed',
  );

  await endPauses(stage);
  await worker.finish(await worker.claimOne(), 'answered', 200);
  t.match(await subscription(stage, id), { consecutive_failures: 0, pause_seconds: null });
});

t.test('a slow success does not end a pause that is live', async (t) => {
  const { stage, worker, id } = await setUp(t);
  const claim = await worker.claimOne();
  await stage.look(
    "update bellwire.webhook_subscriptions set consecutive_failures = 3, paused_until = clock_timestamp() + interval '80 s'",
  );
  t.equal(await worker.finish(claim, 'answered', 200), 'delivered');
  const state = await subscription(stage, id);
  t.equal(state.consecutive_failures, 3);
  t.ok((state.pause_seconds as number) > 60);
});

t.test('a success of one receiver leaves another alone', async (t) => {
  const { stage, worker } = await setUp(t);
  const other = await subscribe(stage);
  await stage.look(
    'update bellwire.webhook_subscriptions set consecutive_failures = 2 where id = $1',
    [other.id],
  );
  await worker.finish(await worker.claimOne(), 'answered', 200);
  t.equal((await subscription(stage, other.id)).consecutive_failures, 2);
});

t.test('an unknown result is refused', async (t) => {
  const { stage, worker } = await setUp(t);
  const claim = await worker.claimOne();
  for (const result of ['sent', '', null]) {
    await refused(
      t,
      worker.finish(claim, result as string, 200),
      { code: '22023' },
      JSON.stringify(result),
    );
  }
  t.match(await delivery(stage, claim.delivery_id), { leased_by: worker.token });
  await refused(
    t,
    stage.byServer(
      `select bellwire.finish_webhooks(
         '{1}', array[gen_random_uuid()], '{answered}', '{200}', '{null}', '{1}', '{0}')`,
    ),
    { code: '42501' },
    'by the server',
  );
});

async function ages(stage: Stage, table: string, days: number) {
  await stage.look(
    `update bellwire.${table} set created_at = created_at - make_interval(days => $1)`,
    [days],
  );
}

t.test('prune deletes what is finished and old, in batches', async (t) => {
  const { stage, worker } = await setUp(t);
  await worker.finish(await worker.claimOne(), 'answered', 200);
  const prune = async (count: number) =>
    Object.fromEntries(
      (await stage.byWorker('select * from bellwire.prune($1)', [count])).map((row) => [
        row.what,
        row.deleted,
      ]),
    );
  await ages(stage, 'webhook_deliveries', 29);
  await ages(stage, 'webhook_events', 29);
  t.match(await prune(100), { webhook_deliveries: 0, webhook_events: 0 }, 'at 29 days');
  await ages(stage, 'webhook_deliveries', 2);
  await ages(stage, 'webhook_events', 2);
  t.match(
    await prune(100),
    { webhook_deliveries: 1, webhook_events: 1 },
    'the delivered one; the pending one and its event stay',
  );
  await stage.ageActivity(366 * 86400);
  const count = await stage.value<number>('select count(*) from bellwire.activity_log');
  t.match(await prune(2), { activity_log: 2 }, 'no more than asked for');
  t.match(await prune(1000), { activity_log: count - 2 });
  await refused(
    t,
    stage.by(stage.people.owner, 'select bellwire.prune(1)'),
    { code: '42501' },
    'who',
  );
});
