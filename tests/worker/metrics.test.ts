import t from 'tap';
import type { WorkerDatabase } from '../../worker/database.ts';
import { WorkerMetrics } from '../../worker/metrics.ts';

const LATER_MS = 60_000;

t.test('a receiver that is gone or has nothing waiting has no figures any more', async (t) => {
  let waiting = [
    { subscriptionId: 7, waiting: 2, oldestSeconds: 40 },
    { subscriptionId: 8, waiting: 1, oldestSeconds: 5 },
  ];
  const database = { backlog: async () => [], webhookBacklog: async () => waiting };
  const metrics = new WorkerMetrics(database as unknown as WorkerDatabase);
  let now = performance.now();
  t.intercept(performance, 'now', { value: () => now });
  const lines = async () => {
    now += LATER_MS;
    await metrics.readBacklog();
    const page = await metrics.registry.metrics();
    return page.split('\n').filter((line) => line.startsWith('bellwire_webhook_backlog'));
  };
  t.strictSame(await lines(), [
    'bellwire_webhook_backlog{subscription="7"} 2',
    'bellwire_webhook_backlog{subscription="8"} 1',
    'bellwire_webhook_backlog_oldest_seconds{subscription="7"} 40',
    'bellwire_webhook_backlog_oldest_seconds{subscription="8"} 5',
  ]);
  waiting = waiting.slice(1);
  t.strictSame(await lines(), [
    'bellwire_webhook_backlog{subscription="8"} 1',
    'bellwire_webhook_backlog_oldest_seconds{subscription="8"} 5',
  ]);
});

t.test('attempts are counted by what came of them, with how long they took', async (t) => {
  const metrics = new WorkerMetrics({} as WorkerDatabase);
  for (const [outcome, seconds] of [
    ['delivered', 0.02],
    ['delivered', 3],
    ['paused', 10],
  ] as const) {
    metrics.webhookAttempt({ outcome, seconds, subscriptionId: 7 });
  }
  const page = await metrics.registry.metrics();
  for (const line of [
    'bellwire_webhook_attempts_total{outcome="delivered"} 2',
    'bellwire_webhook_attempts_total{outcome="paused"} 1',
    'bellwire_webhook_attempt_seconds_bucket{le="0.05"} 1',
    'bellwire_webhook_attempt_seconds_bucket{le="5"} 2',
    'bellwire_webhook_attempt_seconds_count 3',
  ]) {
    t.ok(page.split('\n').includes(line), line);
  }
});
