import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { digestOf } from './session-token.ts';

/** RFC 6238 as every authenticator app has it. */
const ALGORITHM = 'SHA1';
const DIGITS = 6;
const PERIOD_SECONDS = 30;
/** For a clock that is off, and for the time it takes to type. */
const STEPS_AROUND = 1;
const SECRET_BYTES = 20;

const RECOVERY_CODES = 10;
/** 80 random bits: 16 letters of base32. */
const RECOVERY_BYTES = 10;
const RECOVERY_GROUP = 4;

const MS_PER_SECOND = 1000;

/** A new secret in base32. */
export function newSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** What an authenticator app reads from a QR code. */
export function secretUri(secret: string, account: string): string {
  return totp(secret, account).toString();
}

/**
 * The time step whose code this is, among the present one and its neighbours; null for any other
 * code. Whether it was used before is for the database to say.
 */
export function matchedStep(secret: string, code: string, now = Date.now()): number | null {
  const digits = code.replace(/\s/g, '');
  if (!/^[0-9]{6}$/.test(digits)) return null;
  const delta = totp(secret).validate({ token: digits, timestamp: now, window: STEPS_AROUND });
  return delta === null ? null : Math.floor(now / MS_PER_SECOND / PERIOD_SECONDS) + delta;
}

/** Codes to write down, like `K7QX-2MZP-…`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const letters = new Secret({ buffer: new Uint8Array(randomBytes(RECOVERY_BYTES)).buffer });
    return letters.base32.match(new RegExp(`.{${RECOVERY_GROUP}}`, 'g'))?.join('-') ?? '';
  });
}

/** All that is stored of a recovery code, however it was typed. */
export function recoveryDigest(code: string): string {
  return digestOf(code.toUpperCase().replace(/[^A-Z0-9]/g, ''));
}

function totp(secret: string, account = ''): TOTP {
  return new TOTP({
    issuer: 'Bellwire',
    label: account,
    algorithm: ALGORITHM,
    digits: DIGITS,
    period: PERIOD_SECONDS,
    secret: Secret.fromBase32(secret),
  });
}
