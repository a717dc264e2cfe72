import t from 'tap';
import type { FinishedWebhook, WrittenWebhook } from '../../../worker/database.ts';
import { Ledger } from '../../../worker/webhooks/ledger.ts';

const finished = (deliveryId: number): FinishedWebhook => ({
  deliveryId,
  lease: '00000000-0000-4000-8000-000000000001',
  result: 'answered',
  status: 200,
  error: null,
  durationMs: 1,
  restCount: 0,
});

const written = ({ deliveryId }: FinishedWebhook): WrittenWebhook => ({
  deliveryId,
  outcome: 'delivered',
  goesOn: true,
});

t.test('what ends while one call is under way is written by the next', async (t) => {
  const calls: number[][] = [];
  let release = () => {};
  const ledger = new Ledger(async (batch) => {
    calls.push(batch.map(({ deliveryId }) => deliveryId));
    if (calls.length === 1) {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    }
    return batch.map(written);
  });
  const first = ledger.finish(finished(1));
  await new Promise((resolve) => setImmediate(resolve));
  const others = [2, 3, 4].map((id) => ledger.finish(finished(id)));
  release();
  t.match(await first, { deliveryId: 1, goesOn: true });
  t.match(await Promise.all(others), [{ deliveryId: 2 }, { deliveryId: 3 }, { deliveryId: 4 }]);
  t.strictSame(calls, [[1], [2, 3, 4]], 'never two calls at once');
  await ledger.finish(finished(5));
  t.strictSame(calls.at(-1), [5], 'and it begins again');
});

t.test('one that cannot be written does not keep the others', async (t) => {
  const ledger = new Ledger(async (batch) => {
    if (batch.some(({ deliveryId }) => deliveryId === 2)) throw new Error('no');
    return batch.map(written);
  });
  const [one, two, three] = [1, 2, 3].map((id) => ledger.finish(finished(id)));
  await t.rejects(two as Promise<unknown>, /no/);
  t.match(await one, { outcome: 'delivered' });
  t.match(await three, { outcome: 'delivered' });
});

t.test('what the database does not answer for is stale', async (t) => {
  const ledger = new Ledger(async () => []);
  t.match(await ledger.finish(finished(1)), { outcome: 'stale', goesOn: false });
});

t.test('a stop is said to the database', async (t) => {
  const told: boolean[] = [];
  const ledger = new Ledger(async (batch, isStopping) => {
    told.push(isStopping);
    return batch.map(written);
  });
  await ledger.finish(finished(1));
  ledger.stop();
  await ledger.finish(finished(2));
  t.strictSame(told, [false, true]);
});
