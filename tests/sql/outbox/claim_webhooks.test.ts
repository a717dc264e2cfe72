import t from 'tap';
import { createStage, refused, type Stage } from '../fixtures.ts';
import { delivery, emit, endPauses, subscribe, title, Worker } from './webhooks.ts';

const lapse = (stage: Stage) =>
  stage.look(
    "update bellwire.webhook_deliveries set lease_expires_at = clock_timestamp() - interval '1 s'",
  );

t.test('one head at a time, oldest first, positions without gaps', async (t) => {
  const stage = await createStage(t);
  const { secret, id } = await subscribe(stage);
  await emit(stage, ['one', 'two', 'three']);
  const worker = new Worker(stage);
  const claims = await worker.claim();
  t.equal(claims.length, 1, 'nothing behind the head');
  t.match(claims[0], {
    subscription_id: id,
    url: 'https://receiver.example/hook',
    secrets: [secret],
    event_type: 'log.rename',
    delivery_position: 1,
    attempts: 0,
  });
  t.strictSame(await worker.claim(), [], 'nor while it is in flight');
  const seen: [string, number | null][] = [];
  let [claim] = claims;
  while (claim) {
    seen.push([title(claim), claim.delivery_position]);
    await worker.finish(claim, 'answered', 200);
    [claim] = await worker.claim();
  }
  t.strictSame(seen, [
    ['one', 1],
    ['two', 2],
    ['three', 3],
  ]);
});

t.test('a retry keeps its position; a dead letter leaves a gap for the receiver', async (t) => {
  const stage = await createStage(t);
  await subscribe(stage);
  await emit(stage, ['one', 'two', 'three']);
  const worker = new Worker(stage);
  await worker.finish(await worker.claimOne(), 'answered', 500);
  await endPauses(stage);
  const again = await worker.claimOne();
  t.match([title(again), again.delivery_position, again.attempts], ['one', 1, 1]);
  await worker.finish(again, 'answered', 422);
  const next = await worker.claimOne();
  t.strictSame([title(next), next.delivery_position], ['two', 2]);
});

t.test('each receiver has its own head and its own positions', async (t) => {
  const stage = await createStage(t);
  const renames = await subscribe(stage, { types: ['log.rename'] });
  const all = await subscribe(stage);
  await stage.save(stage.people.member, stage.documentId, 'new');
  await emit(stage, ['one']);
  const worker = new Worker(stage);
  const first = await worker.claim();
  t.strictSame(
    first.map((claim) => [claim.subscription_id, claim.event_type, claim.delivery_position]).sort(),
    [
      [renames.id, 'log.rename', 1],
      [all.id, 'log.update', 1],
    ].sort(),
  );
  for (const claim of first) {
    await worker.finish(claim, claim.subscription_id === all.id ? 'failed' : 'answered', 200);
  }
  await emit(stage, ['two']);
  const second = await worker.claim();
  t.strictSame(
    second.map((claim) => [claim.subscription_id, claim.delivery_position]),
    [[renames.id, 2]],
    'one that is paused delays nobody else',
  );
});

t.test('a claim is bounded', async (t) => {
  const stage = await createStage(t);
  for (let count = 0; count < 4; count += 1) await subscribe(stage);
  await emit(stage, ['one']);
  const worker = new Worker(stage);
  t.equal((await worker.claim(3)).length, 3);
  t.equal((await worker.claim(3)).length, 1);
});

t.test('disabled, paused and unnumbered are passed over', async (t) => {
  const stage = await createStage(t);
  const { id } = await subscribe(stage);
  await emit(stage, ['one']);
  const worker = new Worker(stage);
  const set = (change: string) =>
    stage.look(`update bellwire.webhook_subscriptions set ${change} where id = $1`, [id]);
  await set('is_enabled = false');
  t.strictSame(await worker.claim(), []);
  await set("is_enabled = true, paused_until = clock_timestamp() + interval '1 hour'");
  t.strictSame(await worker.claim(), []);
  t.strictSame(
    await stage.byWorker(
      "select bellwire.next_webhook_at() > now() + interval '59 minutes' as is_later",
    ),
    [{ is_later: true }],
    'it says when to look again',
  );
  await set('paused_until = null');
  await stage.by(stage.people.member, 'select api.rename_document($1, $2)', [
    stage.documentId,
    'x',
  ]);
  await worker.finish(await worker.claimOne(), 'answered', 204);
  t.strictSame(await worker.claim(), [], 'what has no number yet');
  t.strictSame(await stage.byWorker('select bellwire.next_webhook_at() as at'), [{ at: null }]);
});

t.test('two workers never hold one receiver', async (t) => {
  const stage = await createStage(t);
  for (let count = 0; count < 3; count += 1) await subscribe(stage);
  await emit(stage, ['one', 'two']);
  const workers = [1, 2, 3, 4].map(() => new Worker(stage));
  const sent: string[] = [];
  for (let round = 0; round < 2; round += 1) {
    const claims = await Promise.all(workers.map((worker) => worker.claim()));
    t.equal(claims.flat().length, 3, 'three heads in all');
    await Promise.all(
      claims.map((held, index) =>
        Promise.all(
          held.map(async (claim) => {
            sent.push(`${claim.subscription_id} ${title(claim)}`);
            await workers[index]?.finish(claim, 'answered', 200);
          }),
        ),
      ),
    );
  }
  t.equal(new Set(sent).size, 6, 'each delivery once');
  t.equal(sent.length, 6);
});

t.test('the lease: 30 seconds, renewable, taken over when it lapses', async (t) => {
  const stage = await createStage(t);
  await subscribe(stage);
  await emit(stage, ['one']);
  const [first, second] = [new Worker(stage), new Worker(stage)];
  const claim = await first.claimOne();
  const seconds = () =>
    stage.value<number>(
      'select extract(epoch from lease_expires_at - clock_timestamp())::float from bellwire.webhook_deliveries',
    );
  t.ok(Math.abs((await seconds()) - 30) < 5);
  await stage.look(
    "update bellwire.webhook_deliveries set lease_expires_at = lease_expires_at - interval '20 s'",
  );
  t.equal(await first.renew(claim), true);
  t.ok(Math.abs((await seconds()) - 30) < 5, 'the full window again');
  t.equal(await second.renew(claim), false, 'not by another');

  await lapse(stage);
  t.equal(await first.renew(claim), false, 'too late');
  const taken = await second.claimOne();
  t.equal(taken.delivery_id, claim.delivery_id);
  t.equal(taken.delivery_position, claim.delivery_position);

  const before = await delivery(stage, claim.delivery_id);
  for (const status of [200, 410, 422, 500]) {
    t.equal(await first.finish(claim, 'answered', status), 'stale');
  }
  t.equal(await first.finish(claim, 'refused', null, 'no'), 'stale');
  t.strictSame(await delivery(stage, claim.delivery_id), before, 'a lost lease writes nothing');
  t.match(await stage.look('select is_enabled, paused_until from bellwire.webhook_subscriptions'), [
    { is_enabled: true, paused_until: null },
  ]);
  t.equal(await second.finish(taken, 'answered', 200), 'delivered');
  t.equal(await second.finish(taken, 'answered', 500), 'stale', 'finished once');
});

t.test('a disabled receiver is not sent to after the address check', async (t) => {
  const stage = await createStage(t);
  await subscribe(stage);
  await emit(stage, ['one']);
  const worker = new Worker(stage);
  const claim = await worker.claimOne();
  await stage.look('update bellwire.webhook_subscriptions set is_enabled = false');
  t.equal(await worker.renew(claim), false);
});

t.test('older than 72 hours is dead, and the next is taken', async (t) => {
  const stage = await createStage(t);
  await subscribe(stage);
  await emit(stage, ['one', 'two', 'three', 'four']);
  const age =
    'update bellwire.webhook_events set occurred_at = clock_timestamp() - $2::interval where sequence = $1';
  await stage.look(age, [1, '72 hours 1 minute']);
  await stage.look(age, [2, '80 hours']);
  await stage.look(age, [3, '71 hours 59 minutes']);
  const claim = await new Worker(stage).claimOne();
  t.strictSame([title(claim), claim.delivery_position], ['three', 3]);
  const dead = await stage.look(
    "select state, last_error, position, leased_by from bellwire.webhook_deliveries where state = 'dead' order by sequence",
  );
  t.strictSame(
    dead,
    [1, 2].map((position) => ({
      state: 'dead',
      last_error: 'expired after 72h',
      position,
      leased_by: null,
    })),
    'positions without a gap, for the receiver to see one',
  );
});

t.test('both secrets while the old one is valid', async (t) => {
  const stage = await createStage(t);
  const { id, secret } = await subscribe(stage);
  await emit(stage, ['one', 'two']);
  const fresh = `whsec_${'A'.repeat(43)}=`;
  await stage.look(
    'insert into bellwire.webhook_secrets (subscription_id, secret) values ($1, $2)',
    [id, fresh],
  );
  const expire =
    'update bellwire.webhook_secrets set expires_at = clock_timestamp() + $2::interval where secret = $1';
  await stage.look(expire, [secret, '1 hour']);
  const worker = new Worker(stage);
  const claim = await worker.claimOne();
  t.strictSame(claim.secrets, [fresh, secret], 'the new one first');
  await worker.finish(claim, 'answered', 200);
  await stage.look(expire, [secret, '-1 second']);
  t.strictSame((await worker.claimOne()).secrets, [fresh]);
});

t.test('the worker alone, and the secrets nobody', async (t) => {
  const stage = await createStage(t);
  const call = 'select bellwire.claim_webhooks(gen_random_uuid(), 1)';
  const forbidden = { code: '42501' };
  await refused(t, stage.by(stage.people.owner, call), forbidden, 'a person');
  await refused(t, stage.byAdministrator(call), forbidden, 'an administrator');
  const read = 'select from bellwire.webhook_secrets';
  await refused(t, stage.byWorker(read), forbidden, 'the worker reads no secret directly');
  await refused(t, stage.byAdministrator(read), forbidden, 'an administrator');
  await refused(t, stage.by(stage.people.owner, read), forbidden, 'a person');
});

t.test(
  'with fewer places than receivers each has its turn, and a test does not wait for it',
  async (t) => {
    const stage = await createStage(t);
    const ids: number[] = [];
    for (let count = 0; count < 3; count += 1) ids.push((await subscribe(stage)).id);
    await emit(stage, ['one', 'two', 'three']);
    const worker = new Worker(stage);
    const next = async () => {
      const claim = await worker.claimOne();
      await worker.finish(claim, 'answered', 200);
      return claim;
    };
    const turns: number[] = [];
    for (let count = 0; count < 6; count += 1) turns.push((await next()).subscription_id);
    t.strictSame(turns, [...ids, ...ids]);
    await stage.byAdministrator('select bellwire.test_webhook($1)', [ids[2]]);
    const claims = await worker.claim(1);
    t.match(claims, [{ event_type: 'webhook.test', subscription_id: ids[2] }], 'within the bound');
    t.equal((await next()).subscription_id, ids[0]);
  },
);
