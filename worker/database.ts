import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { KNOWN_MIGRATIONS } from '../operations/readiness.ts';
import { statementName } from '../operations/statement-name.ts';
import { describeError, type Logger } from './logger.ts';

/**
 * Every SQL function the worker calls, and nothing else: it reads no table. Each call is one
 * statement and so one transaction.
 */

const DRAIN_POOL_SIZE = 10;
/** One for each job that can run at once, one that listens. */
const QUEUE_POOL_SIZE = 7;
const CONNECT_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 60_000;
/** A little above the server's own limit, for a server that no longer answers at all. */
const QUERY_TIMEOUT_MS = 65_000;
const IDLE_TIMEOUT_MS = 30_000;
const INT8_OID = 20;

export interface ClaimedWebhook {
  /** The owner token of this claim; every later write about it must carry it. */
  lease: string;
  deliveryId: number;
  subscriptionId: number;
  url: string;
  /** Newest first; two during a rotation. As they are stored, until openingSecrets() opens them. */
  secrets: string[];
  eventId: string;
  eventType: string;
  /** Null for a test: it is not counted. */
  position: number | null;
  body: Buffer;
  attempts: number;
  /** Sent once, beside the queue. */
  isTest: boolean;
  /** On the clock of `performance.now()`, before the claim was sent: the lease is younger than that. */
  claimedAt: number;
}

export type WebhookResult = 'answered' | 'failed' | 'refused';
export type WebhookOutcome = 'delivered' | 'dead' | 'paused' | 'disabled' | 'stale';

export interface FinishedWebhook {
  deliveryId: number;
  lease: string;
  result: WebhookResult;
  status: number | null;
  error: string | null;
  durationMs: number | null;
  /** Deliveries of the same run that are behind it. */
  restCount: number;
}

export interface WrittenWebhook {
  deliveryId: number;
  outcome: WebhookOutcome;
  /** Whether the next delivery of the run may be sent; else nothing of it is leased any more. */
  goesOn: boolean;
}

export interface ClaimedEmail {
  id: number;
  attempt: number;
  toAddress: string;
  toName: string | null;
  kind: string;
  kindDescription: string | null;
  subject: string;
  body: string | null;
  linkPath: string | null;
  workspaceName: string | null;
  unsubscribeToken: string;
}

export type EmailResult = 'sent' | 'transient' | 'permanent' | 'uncertain';

interface PrunedBatch {
  deleted: number;
  /** Rows that something else holds fast; the reason is in rule_failures. */
  refused: number;
  next: unknown;
}

interface WebhookBacklog {
  subscriptionId: number;
  waiting: number;
  oldestSeconds: number;
}

interface StoredWebhookSecret {
  id: number;
  /** What the text is bound to when it is sealed. */
  sealId: string;
  secret: string;
}

interface Backlog {
  what: string;
  waiting: number;
  oldestAt: Date | null;
}

/** Ids are below 2^53, so they may be plain numbers. Set per pool, not for the whole process. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8_OID
      ? (text: string) => Number(text)
      : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

/** One connection, to see whether the database can be used. */
export function openCheckPool(databaseUrl: string, logger: Logger): pg.Pool {
  return openPool(databaseUrl, 1, logger);
}

/** The pool the drains work with. */
export function openDrainPool(databaseUrl: string, logger: Logger): pg.Pool {
  return openPool(databaseUrl, DRAIN_POOL_SIZE, logger);
}

/**
 * The pool the job queue works with. Losing a job in a crash loses nothing (the rows are the
 * truth, the queue a hint), so its commits need not wait for the disk: that is a few
 * milliseconds off the way from a commit to its delivery.
 */
export function openQueuePool(databaseUrl: string, logger: Logger): pg.Pool {
  return openPool(withOption(databaseUrl, '-c synchronous_commit=off'), QUEUE_POOL_SIZE, logger);
}

/** Adds a libpq option to those the URL has already (the role may be one of them). */
function withOption(databaseUrl: string, option: string): string {
  const url = new URL(databaseUrl);
  const options = url.searchParams.get('options');
  url.searchParams.set('options', options ? `${options} ${option}` : option);
  // URLSearchParams writes a blank as "+", which is not read as a blank here.
  url.search = url.search.replaceAll('+', '%20');
  return url.toString();
}

function openPool(databaseUrl: string, max: number, logger: Logger): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max,
    application_name: 'bellwire worker',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    types,
  });
  // Without a listener a lost connection would end the process, idle or in use. The query in hand
  // is rejected all the same.
  const report = (error: Error) => {
    logger.warn({ error: describeError(error) }, 'a database connection was lost');
  };
  pool.on('error', report);
  pool.on('connect', (client) => client.on('error', report));
  return pool;
}

/** The worker's view of the database. */
export class WorkerDatabase {
  readonly #pool: pg.Pool;
  readonly #onQuery: (statement: string, ms: number) => void;

  /** `onQuery` is told how long each statement took, the wait for a connection included. */
  constructor(pool: pg.Pool, onQuery: (statement: string, ms: number) => void = () => {}) {
    this.#pool = pool;
    this.#onQuery = onQuery;
  }

  /** Numbers committed events; 0 also when another worker is at it. */
  async sequenceWebhooks(maxCount: number): Promise<number> {
    return this.#value('select bellwire.sequence_webhooks($1) as value', [maxCount]);
  }

  /**
   * Leases up to `maxRun` deliveries, in their order, of each of up to `maxCount` subscriptions, for
   * 30 seconds. The token is new at every claim: if this process stalls until its lease lapses and
   * then claims the same delivery again, its first attempt is as stale as another worker's would be.
   */
  async claimWebhooks(maxCount: number, maxRun: number): Promise<ClaimedWebhook[][]> {
    const claimedAt = performance.now();
    const lease = randomUUID();
    const rows = await this.#rows<Omit<ClaimedWebhook, 'lease' | 'claimedAt'>>(
      `select delivery_id as "deliveryId", subscription_id as "subscriptionId", url, secrets,
              event_id as "eventId", event_type as "eventType", delivery_position as "position",
              body, attempts, is_test as "isTest"
         from bellwire.claim_webhooks($1, $2, $3)`,
      [lease, maxCount, maxRun],
    );
    const runs = new Map<string, ClaimedWebhook[]>();
    for (const row of rows) {
      // A test waits for nothing, so it is a run of its own.
      const key = `${row.subscriptionId} ${row.isTest}`;
      const run = runs.get(key);
      const claimed = { ...row, lease, claimedAt };
      if (run) run.push(claimed);
      else runs.set(key, [claimed]);
    }
    return [...runs.values()];
  }

  /** False when a lease was lost: then nothing may be sent. */
  async renewWebhookLeases(deliveryIds: number[], lease: string): Promise<boolean> {
    return this.#value('select bellwire.renew_webhook_leases($1, $2) as value', [
      deliveryIds,
      lease,
    ]);
  }

  /** Writes down what came of sends; SQL decides what it means. `isStopping`: nothing goes on. */
  async finishWebhooks(
    finished: readonly FinishedWebhook[],
    isStopping: boolean,
  ): Promise<WrittenWebhook[]> {
    return this.#rows<WrittenWebhook>(
      `select delivery_id as "deliveryId", outcome, goes_on as "goesOn"
         from bellwire.finish_webhooks($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        finished.map(({ deliveryId }) => deliveryId),
        finished.map(({ lease }) => lease),
        finished.map(({ result }) => result),
        finished.map(({ status }) => status),
        finished.map(({ error }) => error),
        finished.map(({ durationMs }) => durationMs),
        finished.map(({ restCount }) => restCount),
        isStopping,
      ],
    );
  }

  /**
   * Milliseconds until the next paused subscription with a backlog may be tried; null when there
   * is none. Computed by the database, so that no clock of ours is compared with its clock.
   */
  async millisecondsToNextWebhook(): Promise<number | null> {
    return this.#value(
      `select ceil(1000 * extract(epoch from bellwire.next_webhook_at() - clock_timestamp()))::float8
              as value`,
      [],
    );
  }

  /** Webhook secrets that are stored plain, or sealed by another key than this one, from an id on. */
  async unsealedWebhookSecrets(
    currentKeyId: string,
    afterId: number,
    maxCount: number,
  ): Promise<StoredWebhookSecret[]> {
    return this.#rows<StoredWebhookSecret>(
      'select id, seal_id as "sealId", secret from bellwire.unsealed_webhook_secrets($1, $2, $3)',
      [currentKeyId, afterId, maxCount],
    );
  }

  /** False when it is not `before` any more: rotated, deleted, or sealed by another worker. */
  async sealWebhookSecret(id: number, before: string, sealed: string): Promise<boolean> {
    return this.#value('select bellwire.seal_webhook_secret($1, $2, $3) as value', [
      id,
      before,
      sealed,
    ]);
  }

  /** The same of second factors, in the order of their people. */
  async unsealedSecondFactors(
    currentKeyId: string,
    afterUserId: number,
    maxCount: number,
  ): Promise<{ userId: number; secret: string }[]> {
    return this.#rows<{ userId: number; secret: string }>(
      'select user_id as "userId", secret from bellwire.unsealed_second_factors($1, $2, $3)',
      [currentKeyId, afterUserId, maxCount],
    );
  }

  /** False when it is not `before` any more: begun anew, turned off, or sealed by another worker. */
  async sealSecondFactor(userId: number, before: string, sealed: string): Promise<boolean> {
    return this.#value('select bellwire.seal_second_factor($1, $2, $3) as value', [
      userId,
      before,
      sealed,
    ]);
  }

  /** Leaves a line for the operator, at most once a day per subscription. */
  async noteUnopenedSecret(subscriptionId: number, reason: string): Promise<void> {
    await this.#rows('select bellwire.note_unopened_secret($1, $2)', [subscriptionId, reason]);
  }

  /** Takes up to `maxCount` e-mails and adds one attempt to each. */
  async claimEmails(maxCount: number): Promise<ClaimedEmail[]> {
    return this.#rows<ClaimedEmail>(
      `select id, attempt, to_address as "toAddress", to_name as "toName", kind,
              kind_description as "kindDescription", subject, body, link_path as "linkPath",
              workspace_name as "workspaceName", unsubscribe_token as "unsubscribeToken"
         from bellwire.claim_emails($1)`,
      [maxCount],
    );
  }

  /**
   * To be called once the mail server has accepted DATA, before the first byte of the message. False:
   * another worker has it, and nothing may be handed over.
   */
  async handOverEmail(id: number, attempt: number): Promise<boolean> {
    return this.#value('select bellwire.hand_over_email($1, $2) as value', [id, attempt]);
  }

  /** Returns the new state, or `stale` when this attempt is no longer the current one. */
  async finishEmail(
    id: number,
    attempt: number,
    result: EmailResult,
    error: string | null,
  ): Promise<string> {
    return this.#value('select bellwire.finish_email($1, $2, $3, $4) as value', [
      id,
      attempt,
      result,
      error,
    ]);
  }

  /** Tells the next chunks of queued audiences; returns how many chunks were done. */
  async drainFanOut(maxChunks: number): Promise<number> {
    return this.#value('select bellwire.drain_fan_out($1) as value', [maxChunks]);
  }

  /** What retention deletes, in the order in which it is to be done. */
  async retentions(): Promise<string[]> {
    const rows = await this.#rows<{ what: string }>('select what from bellwire.retentions()', []);
    return rows.map(({ what }) => what);
  }

  /** Deletes one batch; `next` says where to go on and is null when nothing is left. */
  async pruneBatch(what: string, maxCount: number, after: unknown): Promise<PrunedBatch> {
    const [batch] = await this.#rows<PrunedBatch>(
      'select deleted, refused, next from bellwire.prune_batch($1, $2, $3)',
      [what, maxCount, after === null ? null : JSON.stringify(after)],
    );
    if (!batch) throw new Error('The database answered with no row.');
    return batch;
  }

  async backlog(): Promise<Backlog[]> {
    return this.#rows<Backlog>(
      'select what, waiting, oldest_at as "oldestAt" from bellwire.worker_backlog()',
      [],
    );
  }

  /** What waits per receiver, of at most so many: those that wait longest. */
  async webhookBacklog(maxCount: number): Promise<WebhookBacklog[]> {
    return this.#rows<WebhookBacklog>(
      `select subscription_id as "subscriptionId", waiting, oldest_seconds as "oldestSeconds"
         from bellwire.webhook_backlog($1)`,
      [maxCount],
    );
  }

  /** Whether the database is one that this version can work on. */
  async isMigrated(): Promise<boolean> {
    return this.#value('select is_migrated as value from bellwire.readiness($1)', [
      KNOWN_MIGRATIONS,
    ]);
  }

  async #value<T>(text: string, values: unknown[]): Promise<T> {
    const [row] = await this.#rows<{ value: T }>(text, values);
    if (!row) throw new Error('The database answered with no row.');
    return row.value;
  }

  async #rows<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> {
    const name = statementName(text);
    const startedAt = performance.now();
    try {
      // Prepared once per connection under the name of the function that is called.
      const prepared = { name: `worker_${name.replace('.', '_')}`, text, values };
      return (await this.#pool.query<Row>(prepared)).rows;
    } finally {
      this.#onQuery(name, Math.round(performance.now() - startedAt));
    }
  }
}
