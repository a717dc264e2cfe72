import { randomBytes, randomUUID } from 'node:crypto';
import type { Keyring } from './keyring.ts';

const SECRET_BYTES = 32;

/** A signing secret, and what of it is stored. */
interface NewSecret {
  /** Shown once, and kept nowhere. */
  secret: string;
  sealId: string;
  stored: string;
}

/** What the sealed secret of a webhook subscription is bound to: the row it is stored in. */
export function webhookSecretContext(sealId: string): string {
  return `webhook-secret:${sealId}`;
}

/** A new signing secret of a webhook subscription, sealed where there is a key. */
export function newWebhookSecret(keyring: Keyring): NewSecret {
  const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
  const sealId = randomUUID();
  return { secret, sealId, stored: keyring.seal(secret, webhookSecretContext(sealId)) };
}
