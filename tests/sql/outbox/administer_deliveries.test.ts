import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createStage, refused, type Stage } from '../fixtures.ts';
import { delivery, emit, subscribe, subscription, title, Worker } from './webhooks.ts';

const LOOK_EVERY_MS = 10;
const TOO_LONG_MS = 5_000;
const SKIP = 'select bellwire.skip_webhook_delivery($1)';
const REDELIVER = 'select bellwire.redeliver_webhook($1)';
const REPLAY = 'select * from bellwire.replay_webhooks($1, $2, $3)';
const TEST = 'select bellwire.test_webhook($1) as id';

/** What is sent until nothing is left, each accepted. */
async function drain(worker: Worker) {
  const sent = [];
  for (let claims = await worker.claim(1); claims.length > 0; claims = await worker.claim(1)) {
    for (const claim of claims) {
      sent.push(claim);
      await worker.finish(claim, 'answered', 204);
    }
  }
  return sent;
}

/** The event of a delivery, so many hours older. */
async function age(stage: Stage, deliveryId: number, hours: number) {
  await stage.look(
    `update bellwire.webhook_events set occurred_at = occurred_at - make_interval(hours => $2)
     where id = (select event_id from bellwire.webhook_deliveries where id = $1)`,
    [deliveryId, hours],
  );
}

t.test('a stuck head is skipped, and nothing else', async (t) => {
  const stage = await createStage(t);
  const { id } = await subscribe(stage);
  await emit(stage, ['First', 'Second', 'Third']);
  const worker = new Worker(stage);
  const first = await worker.claimOne();
  await refused(
    t,
    stage.byAdministrator(SKIP, [first.delivery_id]),
    { code: '23505', detail: 'in_flight' },
    'while it is being sent',
  );
  await worker.finish(first, 'answered', 500);
  await refused(
    t,
    stage.byAdministrator(SKIP, [first.delivery_id + 1]),
    { code: '23505', detail: 'not_the_head' },
    'what waits behind it',
  );
  await stage.byAdministrator(SKIP, [first.delivery_id]);
  t.match(await delivery(stage, first.delivery_id), {
    state: 'dead',
    position: 1,
    last_error: 'skipped by an administrator of the database',
    last_status: 500,
  });
  t.match(await subscription(stage, id), { pause_seconds: null, consecutive_failures: 1 });
  await stage.byAdministrator(SKIP, [first.delivery_id + 1]);
  t.equal((await delivery(stage, first.delivery_id + 1)).position, 2, 'never tried: a gap, too');
  const third = await worker.claimOne();
  t.match([title(third), third.delivery_position], ['Third', 3]);
  await refused(
    t,
    stage.byAdministrator(SKIP, [first.delivery_id]),
    { code: '23505' },
    'a dead one',
  );
  await refused(t, stage.byAdministrator(SKIP, [999]), { code: 'P0002' }, 'none');
});

t.test('a dead delivery is sent again in its old place', async (t) => {
  const stage = await createStage(t);
  const { id } = await subscribe(stage);
  await emit(stage, ['First', 'Second', 'Third']);
  const worker = new Worker(stage);
  const first = await worker.claimOne();
  await refused(
    t,
    stage.byAdministrator(REDELIVER, [first.delivery_id]),
    { code: '23505', detail: 'not_dead' },
    'a pending one',
  );
  await worker.finish(first, 'answered', 422);
  const second = await worker.claimOne();

  await stage.byAdministrator(REDELIVER, [first.delivery_id]);
  t.strictSame(await worker.claim(), [], 'it waits for the one in flight');
  t.match(await delivery(stage, first.delivery_id), { state: 'pending', attempts: 0 });
  await worker.finish(second, 'answered', 204);
  await stage.look('update bellwire.webhook_deliveries set lease_expires_at = clock_timestamp()');
  t.strictSame(
    (await drain(worker)).map((claim) => [title(claim), claim.delivery_position]),
    [
      ['First', 1],
      ['Third', 3],
    ],
    'then it is the head, with its position',
  );
  await refused(
    t,
    stage.byAdministrator(REDELIVER, [first.delivery_id]),
    { code: '23505', detail: 'not_dead' },
    'a delivered one',
  );

  await stage.byAdministrator(REPLAY, [id, null, 3]);
  await stage.look("update bellwire.webhook_deliveries set state = 'dead' where id = $1", [
    second.delivery_id + 1,
  ]);
  await refused(
    t,
    stage.byAdministrator(REDELIVER, [second.delivery_id + 1]),
    { code: '23505', detail: 'already_pending' },
    'one whose event waits already',
  );
  t.equal((await drain(worker)).length, 1);

  const kill = (delivery: number) =>
    stage.look("update bellwire.webhook_deliveries set state = 'dead' where id = $1", [delivery]);
  await kill(first.delivery_id);
  await age(stage, first.delivery_id, 73);
  await refused(
    t,
    stage.byAdministrator(REDELIVER, [first.delivery_id]),
    { code: '23505', detail: 'event_expired' },
    'older than 72 hours',
  );
  await kill(second.delivery_id);
  await age(stage, second.delivery_id, 71);
  await stage.byAdministrator(REDELIVER, [second.delivery_id]);
  t.equal((await worker.claimOne()).delivery_id, second.delivery_id, 'at once, nothing in flight');
  t.match(
    await stage.look(
      "select subscription_id, what from bellwire.webhook_changes where what = 'redelivered'",
    ),
    [{ subscription_id: id }, {}],
  );
});

t.test('a replay sends again what was, and what was never meant for it', async (t) => {
  const stage = await createStage(t);
  const everything = await subscribe(stage);
  const { id } = await subscribe(stage, {
    workspaceId: stage.workspaceId,
    types: ['log.rename'],
  });
  const worker = new Worker(stage);
  await emit(stage, ['First', 'Second']);
  await drain(worker);
  const late = await subscribe(stage, { workspaceId: stage.workspaceId });
  await emit(stage, ['Third']);

  const [result] = await stage.byAdministrator(REPLAY, [late.id, null, 2]);
  t.strictSame(result, {
    replayed: 1,
    first_sequence: 2,
    last_sequence: 2,
    next_sequence: null,
  });
  const [again] = await stage.byAdministrator(REPLAY, [late.id, null, 1]);
  t.match(again, { replayed: 1, first_sequence: 1 }, 'not what is waiting already');
  const before = await stage.look('select * from bellwire.webhook_deliveries order by id');
  const sent = (await drain(worker)).filter(({ subscription_id }) => subscription_id === late.id);
  t.strictSame(
    sent.map((claim) => [title(claim), claim.delivery_position]),
    [
      ['First', 1],
      ['Second', 2],
      ['Third', 3],
    ],
    'in the order of their sequence, before what was pending',
  );

  await stage.byAdministrator(REPLAY, [id, '2020-01-01', null]);
  t.strictSame(
    (await stage.look('select * from bellwire.webhook_deliveries order by id'))
      .slice(0, before.length)
      .filter(({ subscription_id }) => subscription_id === id)
      .map(({ position, state }) => [position, state]),
    [
      [1, 'delivered'],
      [2, 'delivered'],
      [3, 'delivered'],
    ],
    'what was recorded stays',
  );
  t.strictSame(
    (await drain(worker)).map(({ delivery_position }) => delivery_position),
    [4, 5, 6],
  );
  const [future] = await stage.byAdministrator(REPLAY, [id, '2999-01-01', null]);
  t.match(future, { replayed: 0, first_sequence: null, next_sequence: null });
  for (const [what, values] of [
    ['both', [id, '2020-01-01', 1]],
    ['neither', [id, null, null]],
  ] as const) {
    await refused(t, stage.byAdministrator(REPLAY, [...values]), { code: '22023' }, what);
  }
  await refused(t, stage.byAdministrator(REPLAY, [99, null, 1]), { code: 'P0002' }, 'no such');
  t.ok(everything.id < id);
});

t.test(
  'a replay: its limit, its own age, other workspaces and types, what is in flight',
  async (t) => {
    const stage = await createStage(t);
    await subscribe(stage);
    const other = await subscribe(stage, { workspaceId: stage.strangerWorkspaceId });
    const types = await subscribe(stage, { types: ['log.publish'] });
    const { id } = await subscribe(stage, { workspaceId: stage.workspaceId });
    const worker = new Worker(stage);
    await emit(stage, ['First', 'Second', 'Third']);
    await drain(worker);
    t.match((await stage.byAdministrator(REPLAY, [other.id, null, 1]))[0], { replayed: 0 });
    t.match((await stage.byAdministrator(REPLAY, [types.id, null, 1]))[0], { replayed: 0 });

    await stage.set('webhook_replay_limit', 2);
    await stage.look(
      "update bellwire.webhook_events set occurred_at = now() - interval '100 hours'",
    );
    const [part] = await stage.byAdministrator(REPLAY, [id, null, 1]);
    t.strictSame(part, { replayed: 2, first_sequence: 1, last_sequence: 2, next_sequence: 3 });
    const claim = await worker.claimOne();
    t.equal(title(claim), 'First', 'its 72 hours count from the replay');
    await worker.finish(claim, 'answered', 204);
    await stage.look(
      `update bellwire.webhook_deliveries set replayed_at = replayed_at - interval '73 hours' where state = 'pending'`,
    );
    t.strictSame(await worker.claim(), [], 'and then it expires as any other');

    await emit(stage, ['Fourth']);
    const claims = await worker.claim();
    t.equal(claims.length, 2, 'both receivers have one in flight');
    await stage.byAdministrator(REPLAY, [id, null, 3]);
    t.strictSame(await worker.claim(), [], 'what comes before it waits for it');
    const waiting = await stage.value(
      `select id from bellwire.webhook_deliveries
       where subscription_id = $1 and state = 'pending' and leased_by is null`,
      [id],
    );
    await refused(
      t,
      stage.byAdministrator(SKIP, [waiting]),
      { code: '23505', detail: 'in_flight' },
      'nor is it skipped: what follows would be sent beside the one in flight',
    );
    for (const each of claims) await worker.finish(each, 'answered', 204);
    await stage.look('update bellwire.webhook_deliveries set lease_expires_at = clock_timestamp()');
    t.strictSame((await drain(worker)).map(title), ['Third']);
  },
);

t.test('a replay leaves out what retention is deleting, and does not wait for it', async (t) => {
  const stage = await createStage(t);
  await subscribe(stage);
  await emit(stage, ['First', 'Second']);
  const worker = new Worker(stage);
  await drain(worker);
  const late = await subscribe(stage);
  await stage.look('delete from bellwire.webhook_deliveries');
  await stage.look(
    "update bellwire.webhook_events set created_at = now() - interval '31 days' where sequence = 1",
  );
  const pruning = await stage.database.admin.connect();
  await pruning.query('begin');
  await pruning.query("select bellwire.prune_batch('webhook_events', 10)");
  const replay = stage.byAdministrator(REPLAY, [late.id, null, 1]);
  const first = await Promise.race([replay, delay(TOO_LONG_MS, 'it waits')]);
  await pruning.query('commit');
  pruning.release();
  t.match(first, [{ replayed: 1, first_sequence: 2 }]);
  await replay;
});

t.test('a test goes beside the queue, once', async (t) => {
  const stage = await createStage(t);
  const { id } = await subscribe(stage, { types: ['log.publish', 'log.rename'] });
  const other = await subscribe(stage);
  await stage.byAdministrator('select bellwire.disable_webhook_subscription($1)', [other.id]);
  await emit(stage, ['First']);
  const worker = new Worker(stage);
  await worker.finish(await worker.claimOne(), 'answered', 500);
  t.strictSame(await worker.claim(), [], 'paused');

  const [asked] = await stage.byAdministrator(TEST, [id]);
  await refused(
    t,
    stage.byAdministrator(TEST, [id]),
    { code: '23505', detail: 'test_pending' },
    'a second one',
  );
  await refused(
    t,
    stage.byAdministrator(TEST, [other.id]),
    { code: '23505', detail: 'subscription_disabled', hint: /Enable/ },
    'of a disabled one',
  );
  const failing = await worker.claimOne();
  t.match(failing, { delivery_id: asked?.id, event_type: 'webhook.test', delivery_position: null });
  t.strictSame(await worker.claim(), [], 'leased');
  const body = JSON.parse(failing.body.toString());
  t.match(body, {
    type: 'webhook.test',
    version: 1,
    sequence: 2,
    workspace_id: null,
    actor: null,
    data: { subscription_id: id },
  });
  t.equal(await worker.finish(failing, 'answered', 503), 'dead', 'a failure is not tried again');
  t.match(await delivery(stage, failing.delivery_id), {
    last_status: 503,
    last_error: 'HTTP 503',
    attempts: 1,
  });
  t.match(await subscription(stage, id), { is_enabled: true, consecutive_failures: 1 });
  t.strictSame(await worker.claim(), [], 'and changes nothing: still paused');

  await stage.byAdministrator(TEST, [id]);
  const passing = await worker.claimOne();
  t.equal(await worker.finish(passing, 'answered', 200), 'delivered');
  t.match(await subscription(stage, id), { consecutive_failures: 0, pause_seconds: null });
  const first = await worker.claimOne();
  t.equal(title(first), 'First', 'the backlog follows at once');
  t.equal(first.delivery_position, 1, 'and tests are not counted');
  t.equal(await worker.finish(passing, 'answered', 200), 'stale');

  await stage.byAdministrator(TEST, [id]);
  const gone = await worker.claimOne();
  t.equal(gone.event_type, 'webhook.test', 'also while another one is in flight');
  t.equal(await worker.finish(gone, 'answered', 410), 'dead');
  t.match(await subscription(stage, id), { is_enabled: true }, 'a test disables nothing');
  await refused(
    t,
    stage.byAdministrator(REDELIVER, [gone.delivery_id]),
    { code: '23505', detail: 'not_dead' },
    'no test is sent again',
  );
  t.match(
    (await stage.byAdministrator(REPLAY, [id, null, 1]))[0],
    { replayed: 0 },
    'nor replayed; the one event waits already',
  );
});

t.test('the envelope of a test is that of any event', async (t) => {
  const stage = await createStage(t);
  const { owner } = stage.people;
  const { id } = await subscribe(stage, { workspaceId: stage.workspaceId });
  await emit(stage, ['First']);
  await stage.by(owner, 'select api.test_webhook($1)', [id]);
  const worker = new Worker(stage);
  const claims = await worker.claim();
  const [real, test] = claims.map(({ body }) => JSON.parse(body.toString()));
  t.strictSame(Object.keys(test), Object.keys(real));
  t.match(test, {
    workspace_id: stage.workspaceId,
    squad_id: null,
    actor: { id: owner, name: 'Olga Owner' },
    occurred_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  });
  await emit(stage, ['Second']);
  t.equal(
    await stage.value('select max(sequence)::int from bellwire.webhook_events'),
    3,
    'the numbers go on without a gap',
  );
});

t.test('a subscription deleted during a send', async (t) => {
  const stage = await createStage(t);
  const { id } = await subscribe(stage);
  await emit(stage, ['First']);
  const worker = new Worker(stage);
  const claim = await worker.claimOne();
  await stage.byAdministrator('select bellwire.delete_webhook_subscription($1)', [id]);
  t.equal(await worker.renew(claim), false, 'nothing is sent any more');
  t.equal(await worker.finish(claim, 'answered', 204), 'stale', 'nor noted');
});

t.test('its outcome and its deletion do not wait for each other', async (t) => {
  const stage = await createStage(t);
  const { id } = await subscribe(stage);
  await emit(stage, ['First']);
  const worker = new Worker(stage);
  const claim = await worker.claimOne();
  const waiting = async (count: number) => {
    const waiters = `select count(*)::int from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    while ((await stage.value<number>(waiters)) < count) await delay(LOOK_EVERY_MS);
  };
  const holder = await stage.database.admin.connect();
  await holder.query('begin');
  await holder.query('select from bellwire.webhook_subscriptions for no key update');
  const deleted = stage.byAdministrator('select bellwire.delete_webhook_subscription($1)', [id]);
  await waiting(1);
  const outcome = worker.finish(claim, 'answered', 500);
  await waiting(2);
  await holder.query('commit');
  holder.release();
  await deleted;
  t.equal(await outcome, 'stale');
});

t.test('nor do the outcome of a test and the deletion', async (t) => {
  const stage = await createStage(t);
  const { id } = await subscribe(stage);
  await stage.byAdministrator(TEST, [id]);
  const worker = new Worker(stage);
  const claim = await worker.claimOne();
  const remover = await stage.database.admin.connect();
  await remover.query('begin');
  await remover.query('select bellwire.lock_webhook_subscription($1)', [id]);
  t.equal(await worker.finish(claim, 'answered', 200), 'delivered');
  await remover.query('select bellwire.delete_webhook_subscription($1)', [id]);
  await remover.query('commit');
  remover.release();
});
