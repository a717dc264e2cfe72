import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { secondFactorContext } from '../../secrets/second-factor-secret.ts';
import { inBackground } from '../background.ts';
import { requestToken, sessionOf } from '../plugins/authentication.ts';
import { Problem, signInRequired } from '../problem.ts';
import {
  done,
  email,
  failures,
  token as givenToken,
  idText,
  outId,
  password,
  success,
  time,
  code as typedCode,
} from '../schemas.ts';
import { matchedStep, recoveryDigest } from '../second-factor.ts';
import { digestOf, expiredSessionCookie, newSessionToken } from '../session-token.ts';
import { answerWithSession, originOf, refuseWrongCode, signedIn, user } from '../sign-in.ts';

interface Options {
  appUrl: string;
  /** Ends the sockets of sessions that have ended. */
  closeSockets: (digests: readonly string[]) => void;
}

const secondFactorWanted = z
  .object({ success, secondFactor: z.object({ token: z.string(), expiresAt: time }) })
  .describe('The password is right; POST /api/login/second-factor with this token and a code');

const session = z.object({
  id: outId,
  ip: z.string().nullable(),
  userAgent: z.string().nullable(),
  signedInAt: time,
  lastSeenAt: time,
  expiresAt: time,
  isCurrent: z.boolean(),
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
          password,
        }),
        response: { 200: z.union([signedIn, secondFactorWanted]), ...failures },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const [found] = await app.database.read<{ userId: number; passwordHash: string }>(
        'select user_id, password_hash from identity.find_credentials($1)',
        [body.email],
      );
      // Without anybody found as well: the answer has to take as long.
      const isRight = await app.passwords.verify(found?.passwordHash, body.password);
      if (!isRight || found === undefined) throw wrongCredentials();
      const token = newSessionToken();
      const [opened] = await app.database.write<{ outcome: string; expiresAt: string }>(
        'select * from identity.sign_in($1, $2, $3, $4, $5)',
        [found.userId, found.passwordHash, digestOf(token), ...originOf(request)],
      );
      if (opened === undefined) throw wrongCredentials();
      if (app.passwords.isWeak(found.passwordHash)) {
        inBackground(app.log, 'renew the hash of a password', async () => {
          const stronger = await app.passwords.hash(body.password);
          await app.database.write('select identity.rehash_password($1, $2, $3)', [
            found.userId,
            found.passwordHash,
            stronger,
          ]);
        });
      }
      if (opened.outcome === 'signed_in') return answerWithSession(app, reply, appUrl, token);
      reply.header('cache-control', 'no-store');
      return { success: true as const, secondFactor: { token, expiresAt: opened.expiresAt } };
    },
  );

  app.post(
    '/api/login/second-factor',
    {
      config: { role: 'anyone', rateLimit: {} },
      schema: {
        tags,
        summary: 'The second step of a sign-in: a code of the authenticator, or a recovery code',
        security: [],
        body: z.strictObject({
          token: givenToken,
          code: typedCode,
        }),
        response: { 200: signedIn, ...failures },
      },
    },
    async (request, reply) => {
      const { code } = request.body;
      const digest = digestOf(request.body.token);
      const [step] = await app.database.read<{ userId: number; secret: string }>(
        'select * from identity.find_sign_in_step($1)',
        [digest],
      );
      if (step === undefined) throw signInGone();
      const secret = app.keyring.open(step.secret, secondFactorContext(step.userId));
      const token = newSessionToken();
      const [finished] = await app.database.write<{ outcome: string }>(
        'select outcome from identity.finish_sign_in($1, $2, $3, $4, $5, $6)',
        [
          digest,
          matchedStep(secret, code),
          recoveryDigest(code),
          digestOf(token),
          ...originOf(request),
        ],
      );
      if (finished?.outcome === 'gone') throw signInGone();
      refuseWrongCode(finished?.outcome, 'signed_in');
      return answerWithSession(app, reply, appUrl, token);
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
      reply.header('cache-control', 'no-store');
      const token = requestToken(request, appUrl);
      if (token === undefined) throw signInRequired();
      const ended = await app.database.write<{ digest: string }>(
        'select * from identity.close_session($1) as digest',
        [digestOf(token)],
      );
      closeSockets(ended.map(({ digest }) => digest));
      reply.header('set-cookie', expiredSessionCookie(appUrl));
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

  app.get(
    '/api/sessions',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Where you are signed in',
        response: { 200: z.object({ success, items: z.array(session) }), ...failures },
      },
    },
    async (request) => ({
      success: true as const,
      items: await request.rows<z.infer<typeof session>>('select * from api.list_sessions($1)', [
        sessionOf(request).digest,
      ]),
    }),
  );

  app.delete(
    '/api/sessions/:id',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'End one of your sessions and its sockets',
        params: z.object({ id: idText }),
        response: { 200: done, ...failures },
      },
    },
    async (request) => {
      const { digest } = await request.row<{ digest: string }>(
        'select api.end_session($1) as digest',
        [request.params.id],
      );
      closeSockets([digest]);
      return { success: true as const };
    },
  );

  app.post(
    '/api/logout-everywhere',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Sign out on every device, or on every other one',
        body: z.strictObject({ isThisOneKept: z.boolean() }),
        response: { 200: done, ...failures },
      },
    },
    async (request, reply) => {
      const { isThisOneKept } = request.body;
      const kept = isThisOneKept ? sessionOf(request).digest : null;
      const ended = await request.rows<{ digest: string }>(
        'select * from api.end_sessions($1) as digest',
        [kept],
      );
      closeSockets(ended.map(({ digest }) => digest));
      if (!isThisOneKept) reply.header('set-cookie', expiredSessionCookie(appUrl));
      return { success: true as const };
    },
  );
};

function wrongCredentials(): Problem {
  return new Problem(401, 'wrong_credentials', 'The e-mail address or the password is wrong.');
}

function signInGone(): Problem {
  return new Problem(401, 'sign_in_gone', 'This sign-in took too long, or had too many tries.', {
    hint: 'Begin again with the password.',
  });
}
