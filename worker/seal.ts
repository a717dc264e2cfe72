import type { Keyring } from '../secrets/keyring.ts';
import { secondFactorContext } from '../secrets/second-factor-secret.ts';
import { webhookSecretContext } from '../secrets/webhook-secret.ts';
import type { WorkerDatabase } from './database.ts';
import type { Logger } from './logger.ts';

interface Options {
  keyring: Keyring;
  database: Pick<
    WorkerDatabase,
    'unsealedWebhookSecrets' | 'sealWebhookSecret' | 'unsealedSecondFactors' | 'sealSecondFactor'
  >;
  logger: Logger;
}

interface StoredSecret {
  id: number;
  secret: string;
  /** What the text is bound to when it is sealed. */
  context: string;
}

/** Where secrets are kept that the key of an operator seals. */
interface Store {
  what: string;
  /** In the order of their ids. */
  unsealed: (currentKeyId: string, afterId: number, maxCount: number) => Promise<StoredSecret[]>;
  /** False when it is not `before` any more. */
  replace: (id: number, before: string, sealed: string) => Promise<boolean>;
}

const SECRETS_PER_LOOK = 500;

/**
 * Seals the secrets that are stored plain, as SQL callers leave them or a server without a key, and
 * seals again those of an older key. Each is replaced only if it is still what was read. One that
 * does not open stays as it is; who needs it says so.
 *
 * @returns whether any was replaced: then it is worth another look
 */
export async function sealSecrets({ keyring, database, logger }: Options): Promise<boolean> {
  const { currentKeyId } = keyring;
  if (currentKeyId === undefined) return false;
  let sealedAny = false;
  for (const store of storesOf(database)) {
    const counts = await sealStore(store, keyring, currentKeyId);
    if (counts.sealed === 0) continue;
    sealedAny = true;
    logger.info(counts, `sealed ${store.what}`);
  }
  return sealedAny;
}

function storesOf(database: Options['database']): Store[] {
  return [
    {
      what: 'webhook secrets',
      unsealed: async (...look) =>
        (await database.unsealedWebhookSecrets(...look)).map(({ id, secret, sealId }) => {
          return { id, secret, context: webhookSecretContext(sealId) };
        }),
      replace: (...change) => database.sealWebhookSecret(...change),
    },
    {
      what: 'secrets of second factors',
      unsealed: async (...look) =>
        (await database.unsealedSecondFactors(...look)).map(({ userId, secret }) => {
          return { id: userId, secret, context: secondFactorContext(userId) };
        }),
      replace: (...change) => database.sealSecondFactor(...change),
    },
  ];
}

async function sealStore(store: Store, keyring: Keyring, currentKeyId: string) {
  const counts = { sealed: 0, unopened: 0 };
  let found: StoredSecret[];
  let afterId = 0;
  do {
    found = await store.unsealed(currentKeyId, afterId, SECRETS_PER_LOOK);
    for (const { id, secret, context } of found) {
      afterId = id;
      const text = sealAnew(keyring, secret, context);
      if (text === undefined) counts.unopened += 1;
      else if (await store.replace(id, secret, text)) counts.sealed += 1;
    }
  } while (found.length === SECRETS_PER_LOOK);
  return counts;
}

/** Undefined where it does not open. */
function sealAnew(keyring: Keyring, secret: string, context: string): string | undefined {
  try {
    return keyring.seal(keyring.open(secret, context), context);
  } catch {
    return undefined;
  }
}
