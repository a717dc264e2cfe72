import type { Verdict } from '../../outgoing/guard.ts';
import type { ClaimedWebhook, WebhookResult, WorkerDatabase } from '../database.ts';
import { describeError, type Logger } from '../logger.ts';
import type { WebhookAttempt } from '../metrics.ts';
import type { Sender } from './send.ts';
import { shorten } from './send.ts';
import { deliveryHeaders } from './signature.ts';

interface DeliverOptions {
  database: WorkerDatabase;
  /** The guard, with the operator's allow-list. */
  check: (url: string) => Promise<Verdict>;
  sender: Sender;
  headerPrefix: string;
  logger: Logger;
  /** Told of each attempt whose outcome is written down. */
  onWebhookAttempt?: (attempt: WebhookAttempt) => void;
}

interface Result {
  result: WebhookResult;
  status: number | null;
  error: string | null;
}

/**
 * One delivery from the claim to the written outcome: guard, renew the lease, send, finish. What
 * an answer means (delivered, dead, paused, disabled) is decided by `finish_webhook()`.
 *
 * Never throws. When the database cannot be told, the lease lapses and the delivery is sent again.
 */
export async function deliver(claimed: ClaimedWebhook, options: DeliverOptions): Promise<void> {
  const { database, logger } = options;
  const { deliveryId, lease } = claimed;
  const about = { delivery: deliveryId, subscription: claimed.subscriptionId };
  try {
    const startedAt = performance.now();
    const result = await attempt(claimed, options);
    if (!result) {
      logger.info(about, 'webhook lease lost before the send');
      return;
    }
    // Cut off by a stop: nobody knows what the receiver saw. The lease lapses and it is sent again.
    if (options.sender.isClosed) return;
    const durationMs = Math.round(performance.now() - startedAt);
    const outcome = await database.finishWebhook({ deliveryId, lease, durationMs, ...result });
    const { subscriptionId } = claimed;
    options.onWebhookAttempt?.({ outcome, seconds: durationMs / 1_000, subscriptionId });
    const level = outcome === 'delivered' ? 'debug' : 'info';
    logger[level]({ ...about, ...result, durationMs, outcome }, 'webhook attempt');
  } catch (error) {
    logger.warn({ ...about, error: describeError(error) }, 'webhook attempt was not recorded');
  }
}

/** Null when the lease was lost meanwhile: another worker has it, so nothing may be sent. */
async function attempt(claimed: ClaimedWebhook, options: DeliverOptions): Promise<Result | null> {
  const verdict = await options.check(claimed.url);
  if (verdict.kind === 'refused') {
    return { result: 'refused', status: null, error: shorten(verdict.reason) };
  }
  if (verdict.kind === 'unresolved') return failed(verdict.reason);
  if (claimed.secrets.length === 0) return failed('The subscription has no secret to sign with.');
  if (!(await options.database.renewWebhookLease(claimed.deliveryId, claimed.lease))) {
    return null;
  }
  const answer = await options.sender.post({
    url: verdict.url,
    addresses: verdict.addresses,
    headers: deliveryHeaders(claimed, options.headerPrefix, Date.now()),
    body: claimed.body,
  });
  if ('error' in answer) return failed(answer.error);
  return { result: 'answered', status: answer.status, error: statusProblem(answer.status) };
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
