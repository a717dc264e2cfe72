import type { Keyring } from '../../secrets/keyring.ts';
import { webhookSecretContext } from '../../secrets/webhook-secret.ts';
import type { WorkerDatabase } from '../database.ts';
import type { Logger } from '../logger.ts';

interface Options {
  keyring: Keyring;
  database: Pick<WorkerDatabase, 'unsealedWebhookSecrets' | 'sealWebhookSecret'>;
  logger: Logger;
}

/** More than two for each subscription there usually are: one look finds them all. */
const MOST_SECRETS = 1_000;

/**
 * Seals the secrets that are stored plain, as SQL callers leave them, and seals again those of an
 * older key. Each is replaced only if it is still what was read. One that does not open stays as it
 * is; its deliveries say so.
 *
 * @returns whether any was replaced: then it is worth another look
 */
export async function sealSecrets({ keyring, database, logger }: Options): Promise<boolean> {
  const { currentKeyId } = keyring;
  if (currentKeyId === undefined) return false;
  let sealed = 0;
  let unopened = 0;
  for (const stored of await database.unsealedWebhookSecrets(currentKeyId, MOST_SECRETS)) {
    const context = webhookSecretContext(stored.sealId);
    let text: string;
    try {
      text = keyring.seal(keyring.open(stored.secret, context), context);
    } catch {
      unopened += 1;
      continue;
    }
    if (await database.sealWebhookSecret(stored.id, stored.secret, text)) sealed += 1;
  }
  if (sealed > 0) logger.info({ sealed, unopened }, 'sealed webhook secrets');
  return sealed > 0;
}
