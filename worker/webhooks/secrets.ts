import { type Keyring, UnsealError } from '../../secrets/keyring.ts';
import { webhookSecretContext } from '../../secrets/webhook-secret.ts';
import type { ClaimedWebhook, WorkerDatabase } from '../database.ts';
import { describeError, type Logger } from '../logger.ts';
import type { Ledger } from './ledger.ts';

type Deliver = (run: ClaimedWebhook[]) => Promise<void>;

interface Options {
  keyring: Keyring;
  database: Pick<WorkerDatabase, 'noteUnopenedSecret'>;
  ledger: Ledger;
  logger: Logger;
}

/** As claim_webhooks() gives a sealed secret: what it is bound to, and the text. */
const SEALED = /^([0-9a-f-]{36}) (sealed\..+)$/;

/**
 * Opens the secrets of a run, which are those of its subscription, and hands it on. Where one does not open, because its key is
 * not in SECRETS_KEY any more, nothing is sent: half a signature is none. The attempt has failed, so
 * the delivery waits for the key to come back.
 *
 * Never throws.
 */
export function openingSecrets(options: Options, deliver: Deliver): Deliver {
  return async (run) => {
    const [head] = run;
    if (head === undefined) return;
    let secrets: string[];
    try {
      secrets = head.secrets.map((stored) => openSecret(stored, options.keyring));
    } catch (error) {
      await fail(head, run.length - 1, error, options);
      return;
    }
    await deliver(run.map((claimed) => ({ ...claimed, secrets })));
  };
}

/** @throws UnsealError */
function openSecret(stored: string, keyring: Keyring): string {
  const [, sealId, sealed] = SEALED.exec(stored) ?? [];
  if (sealId === undefined || sealed === undefined) return keyring.open(stored, '');
  return keyring.open(sealed, webhookSecretContext(sealId));
}

async function fail(
  claimed: ClaimedWebhook,
  restCount: number,
  error: unknown,
  options: Options,
): Promise<void> {
  const { database, ledger, logger } = options;
  const { deliveryId, subscriptionId, lease } = claimed;
  const about = { delivery: deliveryId, subscription: subscriptionId };
  // Only our own sentence: it names a key by its id and never holds a secret.
  const reason = error instanceof UnsealError ? error.message : 'it is damaged';
  const message = `secret cannot be opened: ${reason}`;
  logger.warn({ ...about, error: message }, 'webhook was not sent');
  try {
    const result = { result: 'failed', status: null, error: message, durationMs: null } as const;
    await ledger.finish({ deliveryId, lease, restCount, ...result });
    await database.noteUnopenedSecret(subscriptionId, message);
  } catch (problem) {
    logger.warn({ ...about, error: describeError(problem) }, 'webhook attempt was not recorded');
  }
}
