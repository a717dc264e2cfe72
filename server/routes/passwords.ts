import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { passwordChangedLetter, passwordResetLetter } from '../mail/letters.ts';
import { refuseWeakPassword } from '../passwords.ts';
import { sessionOf } from '../plugins/authentication.ts';
import { Problem } from '../problem.ts';
import { done, email, failures, password, token } from '../schemas.ts';
import { digestOf, newSessionToken } from '../session-token.ts';
import { answerWithSession, checkPresentPassword, findOwner, signedIn } from '../sign-in.ts';

interface Options {
  appUrl: string;
  closeSockets: (digests: readonly string[]) => void;
}

interface Person {
  name: string;
  email: string;
}

const tags = ['account'];

export const passwords: FastifyPluginAsyncZod<Options> = async (app, { appUrl, closeSockets }) => {
  app.post(
    '/api/forgot-password',
    {
      config: { role: 'anyone', rateLimit: {} },
      schema: {
        tags,
        summary: 'Ask for a link that sets a new password; the answer is the same for any address',
        security: [],
        body: z.strictObject({ email }),
        response: { 202: done, ...failures },
      },
    },
    async (request, reply) => {
      app.letters.require();
      // Beside the answer, so that its time does not tell who has an account.
      app.letters.compose('begin a password reset', async () => {
        const resetToken = newSessionToken();
        const [person] = await app.database.write<Person>(
          'select * from identity.begin_password_reset($1, $2)',
          [request.body.email, digestOf(resetToken)],
        );
        return person && passwordResetLetter(person, `${appUrl}/reset-password#${resetToken}`);
      });
      return reply.code(202).send({ success: true });
    },
  );

  app.post(
    '/api/reset-password',
    {
      config: { role: 'anyone', rateLimit: {} },
      schema: {
        tags,
        summary: 'Set a new password with the token of the link; ends every session',
        security: [],
        body: z.strictObject({ token, password }),
        response: { 200: done, ...failures },
      },
    },
    async (request, reply) => {
      const digest = digestOf(request.body.token);
      const [owner] = await app.database.read<Person>(
        'select * from identity.find_password_reset($1)',
        [digest],
      );
      if (owner !== undefined) refuseWeakPassword(request.body.password, owner);
      const [reset] = await app.database.write<Person & { ended: string[] }>(
        'select * from identity.reset_password($1, $2)',
        [digest, await app.passwords.hash(request.body.password)],
      );
      if (reset !== undefined) {
        closeSockets(reset.ended);
        app.letters.send(passwordChangedLetter(reset));
      }
      reply.header('cache-control', 'no-store');
      return { success: true as const };
    },
  );

  app.put(
    '/api/account/password',
    {
      config: { role: 'user', rateLimit: {} },
      schema: {
        tags,
        summary: 'Change your password: ends every session and answers the one that replaces this',
        body: z.strictObject({ currentPassword: password, password }),
        response: { 200: signedIn, ...failures },
      },
    },
    async (request, reply) => {
      const { digest, user } = sessionOf(request);
      const owner = await findOwner(app, user.id);
      if (owner.passwordHash === null) throw noPassword();
      await checkPresentPassword(app, owner, request.body.currentPassword);
      refuseWeakPassword(request.body.password, owner);
      const replacement = newSessionToken();
      const [changed] = await app.database.write<Person & { ended: string[] }>(
        'select * from identity.change_credentials($1, $2, null, $3)',
        [digest, digestOf(replacement), await app.passwords.hash(request.body.password)],
      );
      closeSockets(changed?.ended ?? []);
      app.letters.send(passwordChangedLetter(owner));
      return answerWithSession(app, reply, appUrl, replacement);
    },
  );
};

function noPassword(): Problem {
  return new Problem(409, 'no_password', 'This account has no password that could be changed.', {
    hint: 'Get one with POST /api/forgot-password.',
  });
}
