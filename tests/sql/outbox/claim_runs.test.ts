import t from 'tap';
import { createStage, type Stage } from '../fixtures.ts';
import {
  type Claim,
  delivery,
  emit,
  endPauses,
  subscribe,
  subscription,
  title,
  Worker,
} from './webhooks.ts';

async function setUp(t: Parameters<typeof createStage>[0], titles: string[]) {
  const stage = await createStage(t);
  const { id } = await subscribe(stage);
  await emit(stage, titles);
  return { stage, id, worker: new Worker(stage) };
}

const titles = (claims: readonly Claim[]) => claims.map(title);
const positions = (claims: readonly Claim[]) => claims.map((claim) => claim.delivery_position);

const leased = (stage: Stage) =>
  stage.look(
    'select id from bellwire.webhook_deliveries where leased_by is not null order by sequence',
  );

t.test('a run: the oldest in their order, and nothing else while it is on its way', async (t) => {
  const { stage, worker } = await setUp(t, ['one', 'two', 'three', 'four']);
  const other = await subscribe(stage);
  await emit(stage, ['five']);
  const claims = await worker.claim(10, 3);
  const [mine, others] = [true, false].map((isMine) =>
    claims.filter(({ subscription_id }) => (subscription_id !== other.id) === isMine),
  ) as [Claim[], Claim[]];
  t.strictSame(titles(mine), ['one', 'two', 'three']);
  t.strictSame(positions(mine), [1, 2, 3]);
  t.strictSame(titles(others), ['five']);
  const second = new Worker(stage);
  t.strictSame(await second.claim(10, 3), []);

  for (const [index, claim] of mine.entries()) {
    const restCount = mine.length - index - 1;
    const [written] = await worker.finishAll([
      { claim, result: 'answered', status: index === 1 ? 422 : 200, restCount },
    ]);
    t.match(written, { outcome: index === 1 ? 'dead' : 'delivered', goes_on: true });
    const after = index === 2 ? ['four', 'five'] : [];
    t.strictSame(titles(await second.claim(10, 3)), after, `after ${index + 1}`);
  }
});

t.test(
  'outcomes of many subscriptions in one call, each with what follows for its own',
  async (t) => {
    const stage = await createStage(t);
    const subscriptions = [];
    for (let count = 0; count < 6; count += 1) subscriptions.push(await subscribe(stage));
    await emit(stage, ['one', 'two']);
    const worker = new Worker(stage);
    const heads = (await worker.claim(10, 2)).filter((claim) => title(claim) === 'one');
    const [ok, gone, dead, down, refused, taken] = heads as [
      Claim,
      Claim,
      Claim,
      Claim,
      Claim,
      Claim,
    ];
    await stage.look('update bellwire.webhook_deliveries set leased_by = null where id = $1', [
      taken.delivery_id,
    ]);
    const written = await worker.finishAll(
      [
        { claim: ok, result: 'answered', status: 204 },
        { claim: gone, result: 'answered', status: 410 },
        { claim: dead, result: 'answered', status: 422 },
        { claim: down, result: 'failed', status: null, error: 'ECONNREFUSED' },
        { claim: refused, result: 'refused', status: null, error: 'a private address' },
        { claim: taken, result: 'answered', status: 200 },
      ].map((each) => ({ ...each, restCount: 1 })),
    );
    const byId = new Map(written.map((each) => [each.delivery_id, [each.outcome, each.goes_on]]));
    t.strictSame(
      heads.map((claim) => byId.get(claim.delivery_id)),
      [
        ['delivered', true],
        ['disabled', false],
        ['dead', true],
        ['paused', false],
        ['disabled', false],
        undefined,
      ],
    );
    const states = [];
    for (const { id } of subscriptions) states.push(await subscription(stage, id));
    t.match(states, [
      { is_enabled: true, consecutive_failures: 0, pause_seconds: null },
      { is_enabled: false, disabled_reason: 'receiver answered 410' },
      { is_enabled: true, consecutive_failures: 0, pause_seconds: null },
      { is_enabled: true, consecutive_failures: 1, pause_seconds: Number },
      { is_enabled: false, disabled_reason: 'a private address' },
      { is_enabled: true, consecutive_failures: 0, pause_seconds: null },
    ]);
    t.equal((await delivery(stage, taken.delivery_id)).state, 'pending', 'stale: nothing changed');
  },
);

t.test('a run that does not go on gives the rest back', async (t) => {
  const { stage, worker, id } = await setUp(t, ['one', 'two', 'three']);
  const [first, second, third] = (await worker.claim(1, 3)) as [Claim, Claim, Claim];
  t.strictSame((await leased(stage)).length, 3);
  await worker.finishAll([{ claim: first, result: 'answered', status: 500, restCount: 2 }]);
  t.strictSame(await leased(stage), [], 'after a failure');
  t.equal(await worker.finish(second, 'answered', 200), 'stale', 'and what was given back is lost');

  for (const change of ['is_enabled = false', "paused_until = now() + interval '1 hour'"]) {
    await stage.look(
      'update bellwire.webhook_subscriptions set is_enabled = true, paused_until = null',
    );
    const run = await worker.claim(1, 3);
    await stage.look(`update bellwire.webhook_subscriptions set ${change} where id = $1`, [id]);
    const [written] = await worker.finishAll([
      { claim: run[0] as Claim, result: 'answered', status: 200, restCount: run.length - 1 },
    ]);
    t.match(written, { outcome: 'delivered', goes_on: false }, change);
    t.strictSame(await leased(stage), [], change);
  }

  await stage.look('update bellwire.webhook_subscriptions set paused_until = null');
  await emit(stage, ['four']);
  const run = (await worker.claim(1, 3)) as [Claim, Claim];
  t.strictSame(titles(run), ['three', 'four']);
  const stopping = [{ claim: run[0], result: 'answered', status: 200, restCount: 1 }];
  t.match(await worker.finishAll(stopping, true), [{ goes_on: false }], 'a worker that stops');
  t.strictSame(await leased(stage), []);
  const [last] = await new Worker(stage).claim(1, 3);
  t.match([last && title(last), last?.delivery_position], ['four', 4]);
  t.equal((await delivery(stage, third.delivery_id)).position, 3, 'a position is kept');
});

t.test('an older delivery that is pending again waits for the end of the run', async (t) => {
  const { stage, worker } = await setUp(t, ['one', 'two', 'three']);
  const again = await worker.claimOne();
  await worker.finish(again, 'answered', 422);
  const [two, three] = (await worker.claim(1, 2)) as [Claim, Claim];
  await stage.look("update bellwire.webhook_deliveries set state = 'pending' where id = $1", [
    again.delivery_id,
  ]);
  const second = new Worker(stage);
  t.strictSame(await second.claim(), [], 'one in flight');
  await worker.finishAll([{ claim: two, result: 'answered', status: 200, restCount: 1 }]);
  t.strictSame(await second.claim(), [], 'still');
  await worker.finish(three, 'answered', 200);
  t.strictSame(titles(await second.claim()), ['one']);
});

t.test('what is expired in the middle of a run is dead; the rest is sent', async (t) => {
  const { stage, worker } = await setUp(t, ['one', 'two', 'three']);
  await stage.look(
    "update bellwire.webhook_events set occurred_at = clock_timestamp() - interval '73 hours' where sequence = 2",
  );
  const run = await worker.claim(1, 3);
  t.strictSame(titles(run), ['one', 'three']);
  t.strictSame(positions(run), [1, 3], 'the gap says that one is missing');
});

t.test('the leases of a run are renewed together, or not at all', async (t) => {
  const { stage, worker } = await setUp(t, ['one', 'two']);
  const run = (await worker.claim(1, 2)) as [Claim, Claim];
  t.equal(await worker.renew(...run), true);
  t.equal(await new Worker(stage).renew(...run), false, 'not by another');
  await stage.look(
    "update bellwire.webhook_deliveries set lease_expires_at = now() - interval '1 s' where id = $1",
    [run[1].delivery_id],
  );
  t.equal(await worker.renew(...run), false, 'one is lost');
  t.equal(await worker.renew(), false, 'nothing is nothing');
  await stage.look('update bellwire.webhook_subscriptions set is_enabled = false');
  t.equal(await worker.renew(run[0]), false, 'disabled');
  await stage.look('delete from bellwire.webhook_subscriptions');
  t.equal(await worker.renew(run[0]), false, 'deleted');
  t.equal(await worker.finish(run[0], 'answered', 200), 'stale');
});

t.test(
  'a run ends where address or secret has changed, and the next has the new ones',
  async (t) => {
    const { stage, id, worker } = await setUp(t, ['one', 'two', 'three', 'four', 'five']);
    const change = 'select bellwire.change_webhook_subscription($1, $2, $3, $4)';
    const accept = async ([claim, ...rest]: Claim[]) => {
      if (!claim) throw new Error('nothing was claimed');
      const attempt = { claim, result: 'answered', status: 200, restCount: rest.length };
      return (await worker.finishAll([attempt]))[0];
    };
    const url = 'https://new.example/';
    const first = await worker.claim(1, 3);
    await stage.byAdministrator(change, [id, first[0]?.url, ['log.rename'], 'Mirror']);
    t.match(await accept(first), { goes_on: true }, 'other types or another name change nothing');
    await stage.byAdministrator(change, [id, url, null, null]);
    t.match(await accept(first.slice(1)), { outcome: 'delivered', goes_on: false }, 'address');
    t.strictSame(await leased(stage), [], 'the rest is given back');

    const second = await worker.claim(1, 3);
    t.match(second, [{ url }, { url }, { url }]);
    t.strictSame(titles(second), ['three', 'four', 'five']);
    const [rotated] = await stage.byAdministrator(
      'select secret from bellwire.rotate_webhook_secret($1, false)',
      [id],
    );
    t.match(await accept(second), { goes_on: false }, 'secret');
    const third = await worker.claim(1, 3);
    t.strictSame(third[0]?.secrets, [rotated?.secret]);
    t.match(await accept(third), { goes_on: true }, 'once it is claimed, nothing is old');
  },
);

t.test('what the old address or secret brought disables nothing', async (t) => {
  const { stage, id, worker } = await setUp(t, ['one', 'two']);
  const isEnabled = async () => (await subscription(stage, id)).is_enabled;
  for (const result of ['answered', 'refused']) {
    for (const change of [
      `select bellwire.change_webhook_subscription($1, 'https://${result}.example/', null, null)`,
      'select bellwire.rotate_webhook_secret($1)',
    ]) {
      const [claim, rest] = (await worker.claim(1, 2)) as [Claim, Claim];
      await stage.byAdministrator(change, [id]);
      const attempt = { claim, result, status: result === 'answered' ? 410 : null, error: null };
      t.match(
        await worker.finishAll([{ ...attempt, restCount: 1 }]),
        [{ outcome: 'paused', goes_on: false }],
        `${result}: ${change}`,
      );
      t.equal(await isEnabled(), true);
      t.equal((await delivery(stage, rest.delivery_id)).leased_by, null);
      await endPauses(stage);
    }
  }
  t.equal((await delivery(stage, 1)).attempts, 4, 'each was an attempt');
  await worker.finish(await worker.claimOne(), 'answered', 410);
  t.equal(await isEnabled(), false, 'the new one does');
});

t.test(
  'what is not of the claim stays leased by nobody, and the last of it not by it',
  async (t) => {
    const stage = await createStage(t);
    const { id } = await subscribe(stage, { types: ['log.rename'] });
    await subscribe(stage);
    await emit(stage, ['one']);
    await stage.save(stage.people.member, stage.documentId, 'text');
    await emit(stage, ['three']);
    const worker = new Worker(stage);
    const run = (await worker.claim(10, 2)).filter((claim) => claim.subscription_id === id);
    t.strictSame(titles(run), ['one', 'three']);
    await stage.look('update bellwire.webhook_subscriptions set event_types = null');
    await stage.byAdministrator('select bellwire.replay_webhooks($1, null, 2)', [id]);
    await worker.finishAll([
      { claim: run[0] as Claim, result: 'answered', status: 500, restCount: 1 },
    ]);
    const [last] = await stage.look(
      'select leased_by from bellwire.webhook_deliveries where id = $1',
      [run[1]?.delivery_id],
    );
    t.equal(last?.leased_by, null, 'the replayed one between them is not counted as of the run');
  },
);
