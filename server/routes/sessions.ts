import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { verifyPassword } from '../passwords.ts';
import { findSession, requestToken } from '../plugins/authentication.ts';
import { Problem, signInRequired } from '../problem.ts';
import { done, email, failures, LIMITS, outId, success, time } from '../schemas.ts';
import {
  digestOf,
  expiredSessionCookie,
  newSessionToken,
  sessionCookie,
} from '../session-token.ts';

interface Options {
  appUrl: string;
  /** Ends the sockets of a session that was signed out. */
  closeSockets: (digest: string) => void;
}

const USER_AGENT_CHARACTERS = 400;
const IP_CHARACTERS = 64;
const MS_PER_SECOND = 1000;

const user = z.object({
  id: outId,
  name: z.string(),
  email: z.string(),
  avatarUrl: z.string().nullable(),
  isAdmin: z.boolean(),
});

const tags = ['sessions'];

export const sessions: FastifyPluginAsyncZod<Options> = async (app, { appUrl, closeSockets }) => {
  app.post(
    '/api/login',
    {
      config: { role: 'anyone', rateLimit: {} },
      schema: {
        tags,
        summary: 'Sign in with e-mail and password',
        security: [],
        body: z.strictObject({
          email,
          password: z.string().min(1).max(LIMITS.passwordCharacters),
        }),
        response: {
          200: z.object({ success, token: z.string(), expiresAt: time, user }),
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const [found] = await app.database.read<{ userId: number; passwordHash: string | null }>(
        'select user_id, password_hash from identity.find_credentials($1)',
        [body.email],
      );
      if (!(await verifyPassword(found?.passwordHash, body.password)) || found === undefined) {
        throw new Problem(401, 'wrong_credentials', 'The e-mail address or the password is wrong.');
      }
      const token = newSessionToken();
      await app.database.write('select identity.open_session($1, $2, $3, $4, $5)', [
        found.userId,
        digestOf(token),
        'local',
        request.ip.slice(0, IP_CHARACTERS),
        request.headers['user-agent']?.slice(0, USER_AGENT_CHARACTERS) ?? null,
      ]);
      const session = await findSession(app.database, token);
      if (session === null) throw signInRequired();
      const maxAgeSeconds = Math.floor(
        (Date.parse(session.expiresAt) - Date.now()) / MS_PER_SECOND,
      );
      reply
        .header('set-cookie', sessionCookie(appUrl, token, maxAgeSeconds))
        .header('cache-control', 'no-store');
      return { success: true, token, expiresAt: session.expiresAt, user: session.user } as const;
    },
  );

  app.post(
    '/api/logout',
    {
      config: { role: 'anyone' },
      schema: {
        tags,
        summary: 'Sign out: ends this session and its sockets',
        response: { 200: done, ...failures },
      },
    },
    async (request, reply) => {
      const token = requestToken(request, appUrl);
      if (token === undefined) throw signInRequired();
      const digest = digestOf(token);
      await app.database.write('select identity.close_session($1)', [digest]);
      closeSockets(digest);
      reply.header('set-cookie', expiredSessionCookie(appUrl)).header('cache-control', 'no-store');
      return { success: true } as const;
    },
  );

  app.get(
    '/api/me',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Who is signed in',
        response: {
          200: z.object({ success, user: user.extend({ unreadCount: z.int() }) }),
          ...failures,
        },
      },
    },
    async (request) => ({
      success: true as const,
      user: await request.row<z.infer<typeof user> & { unreadCount: number }>(
        'select * from api.me()',
      ),
    }),
  );
};
