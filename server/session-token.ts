import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** 48 random bytes are 64 characters of base64url. */
const TOKEN_BYTES = 48;

export function newSessionToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** All that is ever stored of a token. */
export function digestOf(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}

/** `__Host-` needs https; a browser drops such a cookie on a plain http address. */
export function cookieName(appUrl: string): string {
  return isSecure(appUrl) ? '__Host-sessionToken' : 'sessionToken';
}

export function sessionCookie(appUrl: string, token: string, maxAgeSeconds: number): string {
  const secure = isSecure(appUrl) ? '; Secure' : '';
  return (
    `${cookieName(appUrl)}=${token}; Path=/; HttpOnly; SameSite=Strict; ` +
    `Max-Age=${maxAgeSeconds}${secure}`
  );
}

export function expiredSessionCookie(appUrl: string): string {
  return sessionCookie(appUrl, '', 0);
}

/** The token of an Authorization header; a scheme with nothing behind it is no token. */
export function bearerToken(headers: IncomingHttpHeaders): string | undefined {
  return /^Bearer +([^\s]+) *$/i.exec(headers.authorization ?? '')?.[1];
}

/**
 * The session cookie under its exact name. A parser that matched by prefix or by case would let a
 * neighbour host plant a cookie that is taken for this one, and so would trim(): a name with U+00A0
 * or U+FEFF in front is another cookie to a browser, free of the rules of `__Host-`, so only the
 * blank and the tab that belong to the header are taken away. On https nobody asks for the name
 * without the prefix: any host under the domain can set that one.
 */
export function cookieToken(headers: IncomingHttpHeaders, name: string): string | undefined {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && stripBlanks(pair.slice(0, at)) === name) {
      return stripBlanks(pair.slice(at + 1)) || undefined;
    }
  }
  return undefined;
}

function stripBlanks(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, '');
}

function isSecure(appUrl: string): boolean {
  return /^https:/i.test(appUrl);
}
