import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';

/** argon2id with the library's defaults (19 MiB, 2 passes, 1 lane): OWASP's recommendation. */
export function hashPassword(password: string): Promise<string> {
  return hash(password);
}

let unusedHash: Promise<string> | undefined;

/**
 * Whether the password is the one. Without a hash (an unknown person, or one without a password)
 * the same work is done against a hash nobody knows the password of, so that the time of the
 * answer does not tell who exists.
 */
export async function verifyPassword(
  passwordHash: string | null | undefined,
  password: string,
): Promise<boolean> {
  unusedHash ??= hashPassword(randomBytes(32).toString('base64url'));
  const isMatch = await verify(passwordHash ?? (await unusedHash), password);
  return isMatch && passwordHash !== null && passwordHash !== undefined;
}
