import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { EmailResult, WorkerDatabase } from './database.ts';
import type { WebhookAttempt } from './webhooks/deliver.ts';
import type { TaskName } from './work.ts';

const ATTEMPT_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const MS_PER_SECOND = 1_000;
/** Every scrape, of every worker, would otherwise count the rows that wait. */
const BACKLOG_REUSE_MS = 10_000;
/** So many receivers have figures of their own: those that wait longest. */
const MOST_SUBSCRIPTIONS = 500;

/** What is counted in a worker process, and what waits in the database. */
export class WorkerMetrics {
  readonly registry = new Registry();
  readonly #database: WorkerDatabase;
  #backlogReadAt = Number.NEGATIVE_INFINITY;

  readonly #attempts = new Counter({
    name: 'bellwire_webhook_attempts_total',
    help: 'Attempts to send a webhook, by what came of them.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  readonly #attemptSeconds = new Histogram({
    name: 'bellwire_webhook_attempt_seconds',
    help: 'From the check of the address to the answer of the receiver.',
    buckets: ATTEMPT_SECONDS,
    registers: [this.registry],
  });
  readonly #emails = new Counter({
    name: 'bellwire_emails_total',
    help: 'Attempts to send an e-mail: sent, transient, permanent or uncertain.',
    labelNames: ['result'],
    registers: [this.registry],
  });
  readonly #chunks = new Counter({
    name: 'bellwire_fan_out_chunks_total',
    help: 'Chunks of queued audiences that were told.',
    registers: [this.registry],
  });
  readonly #numbers = new Counter({
    name: 'bellwire_webhook_events_numbered_total',
    help: 'Numbers given to webhook events.',
    registers: [this.registry],
  });
  readonly #failures = new Counter({
    name: 'bellwire_drain_errors_total',
    help: 'Runs of a task that failed and are tried again.',
    labelNames: ['task'],
    registers: [this.registry],
  });
  readonly #waiting = new Gauge({
    name: 'bellwire_backlog',
    help: 'Rows that wait for any worker, per outbox.',
    labelNames: ['what'],
    registers: [this.registry],
  });
  readonly #oldest = new Gauge({
    name: 'bellwire_backlog_oldest_seconds',
    help: 'For how long the oldest of them has waited.',
    labelNames: ['what'],
    registers: [this.registry],
  });
  readonly #webhooks = new Gauge({
    name: 'bellwire_webhook_backlog',
    help: 'Deliveries that wait for a receiver.',
    labelNames: ['subscription'],
    registers: [this.registry],
  });
  readonly #oldestWebhooks = new Gauge({
    name: 'bellwire_webhook_backlog_oldest_seconds',
    help: 'For how long the oldest of them has waited.',
    labelNames: ['subscription'],
    registers: [this.registry],
  });

  constructor(database: WorkerDatabase) {
    this.#database = database;
  }

  /** Figures of the process itself; they cost a little all the time. */
  collectProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  webhookAttempt({ outcome, seconds }: WebhookAttempt): void {
    this.#attempts.inc({ outcome });
    this.#attemptSeconds.observe(seconds);
  }

  email(result: EmailResult): void {
    this.#emails.inc({ result });
  }

  fanOut(chunks: number): void {
    this.#chunks.inc(chunks);
  }

  numbered(events: number): void {
    this.#numbers.inc(events);
  }

  failure(task: TaskName): void {
    this.#failures.inc({ task });
  }

  /** Looks at what waits, unless somebody has just looked. Rejects when the database cannot say. */
  async readBacklog(): Promise<void> {
    const now = performance.now();
    if (now - this.#backlogReadAt < BACKLOG_REUSE_MS) return;
    this.#backlogReadAt = now;
    const [outboxes, receivers] = await Promise.all([
      this.#database.backlog(),
      this.#database.webhookBacklog(MOST_SUBSCRIPTIONS),
    ]);
    for (const { what, waiting, oldestAt } of outboxes) {
      this.#waiting.set({ what }, waiting);
      const age = oldestAt ? (Date.now() - oldestAt.getTime()) / MS_PER_SECOND : 0;
      this.#oldest.set({ what }, Math.max(age, 0));
    }
    // A receiver that waits for nothing any more has no row, and must not keep its last figure.
    this.#webhooks.reset();
    this.#oldestWebhooks.reset();
    for (const { subscriptionId, waiting, oldestSeconds } of receivers) {
      const subscription = String(subscriptionId);
      this.#webhooks.set({ subscription }, waiting);
      this.#oldestWebhooks.set({ subscription }, oldestSeconds);
    }
  }
}
