import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { findSession } from './plugins/authentication.ts';
import { Problem, signInRequired } from './problem.ts';
import { outId, success, time } from './schemas.ts';
import { sessionCookie } from './session-token.ts';

const USER_AGENT_CHARACTERS = 400;
const IP_CHARACTERS = 64;
const MS_PER_SECOND = 1000;

export const user = z.object({
  id: outId,
  name: z.string(),
  email: z.string(),
  avatarUrl: z.string().nullable(),
  isAdmin: z.boolean(),
});

/** What everything answers that opens a session. */
export const signedIn = z.object({ success, token: z.string(), expiresAt: time, user });

/** The address and the program a session is opened from, as its row keeps them. */
export function originOf(request: FastifyRequest): [ip: string, userAgent: string | null] {
  return [
    request.ip.slice(0, IP_CHARACTERS),
    request.headers['user-agent']?.slice(0, USER_AGENT_CHARACTERS) ?? null,
  ];
}

/** Hands out the token of a session that was just opened, in the body and as the cookie. */
export async function answerWithSession(
  app: FastifyInstance,
  reply: FastifyReply,
  appUrl: string,
  token: string,
): Promise<z.infer<typeof signedIn>> {
  const session = await findSession(app.database, token);
  if (session === null) throw signInRequired();
  const { expiresAt, user: person } = session;
  const maxAgeSeconds = Math.floor((Date.parse(expiresAt) - Date.now()) / MS_PER_SECOND);
  reply
    .header('set-cookie', sessionCookie(appUrl, token, maxAgeSeconds))
    .header('cache-control', 'no-store');
  return { success: true, token, expiresAt, user: person };
}

/** A person whose password is asked for, though they are signed in. */
export interface Owner {
  name: string;
  email: string;
  passwordHash: string | null;
}

/**
 * What is on file of whoever sent the request, once the present password was right. Who has none
 * has none to show.
 * @throws Problem 400 password_needed, 401 wrong_credentials
 */
export async function checkPresentPassword(
  app: FastifyInstance,
  owner: Owner,
  password: string | undefined,
): Promise<void> {
  if (owner.passwordHash === null) return;
  if (password === undefined) {
    throw new Problem(400, 'password_needed', 'This needs your present password.', {
      hint: 'Send it as currentPassword.',
    });
  }
  if (!(await app.passwords.verify(owner.passwordHash, password))) {
    throw new Problem(401, 'wrong_credentials', 'The present password is wrong.');
  }
}

export async function findOwner(app: FastifyInstance, userId: number): Promise<Owner> {
  const [owner] = await app.database.read<Owner>('select * from identity.find_password($1)', [
    userId,
  ]);
  if (owner === undefined) throw signInRequired();
  return owner;
}

/** Turns what a check of a code says into an answer, unless it is the one that is hoped for. */
export function refuseWrongCode(outcome: string | undefined, expected: string): void {
  if (outcome === expected) return;
  if (outcome === 'paused') {
    throw new Problem(429, 'too_many_codes', 'There were too many wrong codes for this account.', {
      hint: 'Wait a while; until then no code is looked at.',
    });
  }
  throw new Problem(401, 'wrong_code', 'That code is wrong, or was used already.', {
    hint: 'Wait for the next one, or take a recovery code.',
  });
}
