import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/**
 * Secrets that must be read again (webhook signing secrets, second factors) are stored sealed with
 * AES-256-GCM when the operator sets SECRETS_KEY: whoever gets hold of the database alone cannot use
 * them. A sealed text names its key, so that keys can be exchanged while both are known.
 *
 *     sealed.1.<key id>.<iv>.<tag>.<ciphertext>      (base64url)
 */

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
/** As NIST SP 800-38D recommends for random values; never used twice for one key. */
const IV_BYTES = 12;
const KEY_ID_CHARACTERS = 8;
const SEALED = /^sealed\.1\.([0-9a-f]{8})\.([\w-]{16})\.([\w-]{22})\.([\w-]*)$/;

interface Key {
  id: string;
  bytes: Buffer;
}

/** A sealed text cannot be opened: its key is not here, or it was changed or moved. */
export class UnsealError extends Error {
  override name = 'UnsealError';
}

export class Keyring {
  readonly #keys: readonly Key[];

  /**
   * @param keys base64 of 32 random bytes each, the newest first: it seals, all of them open
   * @throws Error with a sentence that does not quote the key
   */
  constructor(keys: readonly string[] = []) {
    this.#keys = keys.map(readKey);
  }

  /** False: nothing can be sealed, and secrets are stored as they are. */
  get hasKey(): boolean {
    return this.#keys.length > 0;
  }

  /** Names the key that seals; undefined where there is none. Not a secret: every sealed text begins with it. */
  get currentKeyId(): string | undefined {
    return this.#keys[0]?.id;
  }

  /**
   * @param context what the secret belongs to, such as `webhook-secret:7`. A sealed text that is put
   *   somewhere else does not open.
   * @returns the text itself where there is no key
   */
  seal(text: string, context: string): string {
    const [key] = this.#keys;
    if (key === undefined) return text;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, key.bytes, iv).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    const parts = [iv, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url'));
    return ['sealed', '1', key.id, ...parts].join('.');
  }

  /**
   * The text that was sealed; one that never was is returned as it is.
   * @throws UnsealError
   */
  open(stored: string, context: string): string {
    if (!isSealed(stored)) return stored;
    const [, keyId, iv = '', tag = '', sealed = ''] = SEALED.exec(stored) ?? [];
    const key = this.#keys.find(({ id }) => id === keyId);
    if (key === undefined) throw new UnsealError(`SECRETS_KEY lacks the key ${keyId ?? '?'}`);
    const decipher = createDecipheriv(CIPHER, key.bytes, Buffer.from(iv, 'base64url'))
      .setAAD(Buffer.from(context))
      .setAuthTag(Buffer.from(tag, 'base64url'));
    try {
      const opened = [decipher.update(Buffer.from(sealed, 'base64url')), decipher.final()];
      return Buffer.concat(opened).toString('utf8');
    } catch {
      throw new UnsealError(`a sealed secret was changed, or belongs to something else`);
    }
  }

  /** Whether a stored text should be sealed, or sealed again: plain, or sealed by an older key. */
  isOutdated(stored: string): boolean {
    const [key] = this.#keys;
    return key !== undefined && SEALED.exec(stored)?.[1] !== key.id;
  }
}

/** Whether a stored text is sealed at all. */
export function isSealed(stored: string): boolean {
  return stored.startsWith('sealed.');
}

function readKey(text: string): Key {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== KEY_BYTES || bytes.toString('base64').replace(/=+$/, '') !== plain(text)) {
    throw new Error('a key is the base64 of 32 random bytes: openssl rand -base64 32');
  }
  const id = createHash('sha256').update(bytes).digest('hex').slice(0, KEY_ID_CHARACTERS);
  return { id, bytes };
}

/** Base64 in its first alphabet and without padding. */
function plain(text: string): string {
  return text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
}
