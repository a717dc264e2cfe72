import t, { type Test } from 'tap';
import type { ClaimedWebhook } from '../../../worker/database.ts';
import { Pump } from '../../../worker/webhooks/pump.ts';
import { until } from '../support.ts';

function claimed(subscriptionId: number, deliveryId: number): ClaimedWebhook {
  return {
    lease: '00000000-0000-4000-8000-000000000001',
    deliveryId,
    subscriptionId,
    url: 'https://receiver.example/',
    secrets: [],
    eventId: '00000000-0000-4000-8000-000000000000',
    eventType: 'log.update',
    position: deliveryId,
    body: Buffer.from('{}'),
    attempts: 0,
    isTest: false,
    claimedAt: 0,
  };
}

/** An outbox in memory that hands out one head per subscription, as `claim_webhooks()` does. */
function startOutbox(t: Test, backlog: Record<number, number>, maxInFlight = 10) {
  const leased = new Set<number>();
  const sent: string[] = [];
  const hanging = new Map<number, () => void>();
  let full = 0;
  let nextIn: number | null = null;
  const pump = new Pump({
    maxInFlight,
    claim: async (maxCount) => {
      const heads = Object.keys(backlog)
        .map(Number)
        .filter((id) => (backlog[id] ?? 0) > 0 && !leased.has(id))
        .slice(0, maxCount);
      for (const id of heads) leased.add(id);
      return heads.map((id) => [claimed(id, backlog[id] ?? 0)]);
    },
    deliver: async (run) => {
      const [{ subscriptionId, deliveryId }] = run as [ClaimedWebhook];
      await new Promise<void>((resolve) => {
        if (hanging.has(subscriptionId)) hanging.set(subscriptionId, resolve);
        else setImmediate(resolve);
      });
      backlog[subscriptionId] = (backlog[subscriptionId] ?? 0) - 1;
      leased.delete(subscriptionId);
      sent.push(`${subscriptionId}:${deliveryId}`);
    },
    millisecondsToNext: async () => {
      const milliseconds = nextIn;
      nextIn = null;
      return milliseconds;
    },
    onMuch: () => {
      full += 1;
    },
    onTimerError: (error) => t.fail(String(error)),
  });
  return {
    pump,
    sent,
    backlog,
    hang: (id: number) => hanging.set(id, () => {}),
    release: (id: number) => {
      hanging.get(id)?.();
      hanging.delete(id);
    },
    timesFull: () => full,
    wakeIn: (milliseconds: number) => {
      nextIn = milliseconds;
    },
  };
}

t.test('empties every subscription in its order', async (t) => {
  const outbox = startOutbox(t, { 1: 3, 2: 2 });
  await outbox.pump.run();
  t.strictSame(
    outbox.sent.filter((each) => each.startsWith('1:')),
    ['1:3', '1:2', '1:1'],
  );
  t.strictSame(
    outbox.sent.filter((each) => each.startsWith('2:')),
    ['2:2', '2:1'],
  );
});

t.test('a subscription that hangs occupies its own place only', async (t) => {
  const outbox = startOutbox(t, { 1: 1, 2: 5, 3: 5 });
  outbox.hang(1);
  const run = outbox.pump.run();
  await until('the others are done', () => outbox.sent.length === 10);
  outbox.backlog[2] = 1;
  await outbox.pump.run();
  await until('what was asked for meanwhile is done too', () => outbox.sent.length === 11);
  t.equal(
    outbox.sent.some((each) => each.startsWith('1:')),
    false,
  );
  outbox.release(1);
  await run;
  t.equal(outbox.sent.at(-1), '1:1');
});

t.test('with every place taken others are told, and the rest follows', async (t) => {
  const outbox = startOutbox(t, { 1: 1, 2: 1, 3: 1, 4: 1 }, 2);
  await outbox.pump.run();
  t.equal(outbox.sent.length, 4);
  t.ok(outbox.timesFull() >= 1);
});

t.test('the end of a pause wakes it', async (t) => {
  const outbox = startOutbox(t, { 1: 0 });
  outbox.wakeIn(60);
  await outbox.pump.run();
  outbox.backlog[1] = 1;
  await until('it was sent', () => outbox.sent.length === 1);
  await outbox.pump.stop();
});

t.test('stop claims nothing more and waits for what is in flight', async (t) => {
  const outbox = startOutbox(t, { 1: 5 });
  outbox.hang(1);
  const run = outbox.pump.run();
  await until('it is in flight', () => outbox.pump.isRunning);
  await new Promise((resolve) => setImmediate(resolve));
  const stopped = outbox.pump.stop();
  outbox.release(1);
  await stopped;
  await run;
  t.equal(outbox.sent.length, 1);
});

t.test('a claim that fails rejects; the next run claims again', async (t) => {
  let fails = true;
  const pump = new Pump({
    maxInFlight: 1,
    claim: async () => {
      if (fails) throw new Error('no database');
      return [];
    },
    deliver: async () => {},
    millisecondsToNext: async () => null,
    onMuch: () => {},
    onTimerError: () => {},
  });
  await t.rejects(pump.run(), /no database/);
  fails = false;
  await t.resolves(pump.run());
});
