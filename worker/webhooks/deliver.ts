import type { Verdict } from '../../outgoing/guard.ts';
import type {
  ClaimedWebhook,
  WebhookOutcome,
  WebhookResult,
  WorkerDatabase,
  WrittenWebhook,
} from '../database.ts';
import { describeError, type Logger } from '../logger.ts';
import type { Ledger } from './ledger.ts';
import type { Sender } from './send.ts';
import { shorten } from './send.ts';
import { deliveryHeaders } from './signature.ts';

/**
 * The lease is 30 seconds and a send takes at most 10, so one that starts within the first second of
 * its lease has its full window. The reference renews before each send; here a lease that is older is.
 */
const MAX_LEASE_AGE_MS = 1_000;
/** A subscription may be disabled meanwhile: heard of longer ago than this, the database is asked. */
const MAX_SILENCE_MS = 200;
const MILLISECONDS_PER_SECOND = 1000;

/** What came of one attempt, for whoever counts them. */
export interface WebhookAttempt {
  outcome: WebhookOutcome;
  /** From the address check to the answer. */
  seconds: number;
  subscriptionId: number;
}

interface DeliverOptions {
  database: WorkerDatabase;
  /** The guard, with the operator's allow-list. */
  check: (url: string) => Promise<Verdict>;
  sender: Sender;
  ledger: Ledger;
  headerPrefix: string;
  logger: Logger;
  /** Told of every attempt that was written down; it must not throw. */
  onAttempt?: (attempt: WebhookAttempt) => void;
}

interface Result {
  result: WebhookResult;
  status: number | null;
  error: string | null;
}

/**
 * Sends a run: claimed deliveries of one subscription, one after the other, each only when the one
 * before it is written down as delivered or dead and the subscription goes on. What an answer means
 * is decided by `finish_webhooks()`.
 *
 * Never throws. When the database cannot be told, the lease lapses and the delivery is sent again.
 */
export async function deliverRun(
  run: readonly ClaimedWebhook[],
  options: DeliverOptions,
): Promise<void> {
  const lease = new LeaseWatch(run, options.database);
  for (const [index, claimed] of run.entries()) {
    const written = await deliver(claimed, run.length - index - 1, lease, options);
    if (!written?.goesOn) return;
  }
}

/** One delivery from the address check to the written outcome; undefined when none was written. */
async function deliver(
  claimed: ClaimedWebhook,
  restCount: number,
  lease: LeaseWatch,
  options: DeliverOptions,
): Promise<WrittenWebhook | undefined> {
  const { ledger, logger } = options;
  const { deliveryId, subscriptionId } = claimed;
  const about = { delivery: deliveryId, subscription: subscriptionId };
  try {
    const startedAt = performance.now();
    const result = await attempt(claimed, lease, options);
    if (!result) {
      logger.info(about, 'webhook lease lost before the send');
      return undefined;
    }
    // Cut off by a stop: nobody knows what the receiver saw. The lease lapses and it is sent again.
    if (options.sender.isClosed) return undefined;
    const endedAt = performance.now();
    const durationMs = Math.round(endedAt - startedAt);
    const finished = { deliveryId, lease: claimed.lease, durationMs, restCount, ...result };
    const written = await ledger.finish(finished);
    lease.heardAt(endedAt);
    const { outcome } = written;
    const level = outcome === 'delivered' ? 'debug' : 'info';
    logger[level]({ ...about, ...result, durationMs, outcome }, 'webhook attempt');
    const seconds = (endedAt - startedAt) / MILLISECONDS_PER_SECOND;
    options.onAttempt?.({ outcome, seconds, subscriptionId });
    return written;
  } catch (error) {
    logger.warn({ ...about, error: describeError(error) }, 'webhook attempt was not recorded');
    return undefined;
  }
}

/** Null when the lease was lost meanwhile: another worker has it, so nothing may be sent. */
async function attempt(
  claimed: ClaimedWebhook,
  lease: LeaseWatch,
  options: DeliverOptions,
): Promise<Result | null> {
  const verdict = await options.check(claimed.url);
  if (verdict.kind === 'refused') {
    return { result: 'refused', status: null, error: shorten(verdict.reason) };
  }
  if (verdict.kind === 'unresolved') return failed(verdict.reason);
  if (claimed.secrets.length === 0) return failed('The subscription has no secret to sign with.');
  if (!(await lease.isGood(claimed))) return null;
  const answer = await options.sender.post({
    url: verdict.url,
    addresses: verdict.addresses,
    headers: deliveryHeaders(claimed, options.headerPrefix, Date.now()),
    body: claimed.body,
  });
  if ('error' in answer) return failed(answer.error);
  return { result: 'answered', status: answer.status, error: statusProblem(answer.status) };
}

/**
 * Knows how old the lease of a run can be at most, and when the database last said that the
 * subscription may be sent to. By a clock that never jumps, read before the question was sent.
 */
class LeaseWatch {
  readonly #run: readonly ClaimedWebhook[];
  readonly #database: WorkerDatabase;
  #leasedAt: number;
  #heardAt: number;

  constructor(run: readonly ClaimedWebhook[], database: WorkerDatabase) {
    this.#run = run;
    this.#database = database;
    this.#leasedAt = run[0]?.claimedAt ?? Number.NEGATIVE_INFINITY;
    this.#heardAt = this.#leasedAt;
  }

  /** An outcome of the run was written, and the run goes on. */
  heardAt(time: number): void {
    this.#heardAt = time;
  }

  /** Whether this delivery may be sent now; renews what is left of the run where that is in doubt. */
  async isGood(claimed: ClaimedWebhook): Promise<boolean> {
    const now = performance.now();
    if (now - this.#leasedAt < MAX_LEASE_AGE_MS && now - this.#heardAt < MAX_SILENCE_MS)
      return true;
    const rest = this.#run.slice(this.#run.indexOf(claimed)).map(({ deliveryId }) => deliveryId);
    if (!(await this.#database.renewWebhookLeases(rest, claimed.lease))) return false;
    this.#leasedAt = now;
    this.#heardAt = now;
    return true;
  }
}

function failed(error: string): Result {
  return { result: 'failed', status: null, error: shorten(error) };
}

/** What an administrator reads beside the status; null for a success. */
function statusProblem(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `HTTP ${status} (redirects are not followed)`;
  return `HTTP ${status}`;
}
