import { randomInt } from 'node:crypto';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  accountExistsLetter,
  emailChangedLetter,
  emailCodeLetter,
  signUpLetter,
} from '../mail/letters.ts';
import { refuseWeakPassword } from '../passwords.ts';
import { sessionOf } from '../plugins/authentication.ts';
import { Problem } from '../problem.ts';
import {
  code,
  done,
  failures,
  idText,
  name,
  newEmail,
  password,
  success,
  time,
  token,
} from '../schemas.ts';
import { digestOf, expiredSessionCookie, newSessionToken } from '../session-token.ts';
import {
  answerWithSession,
  checkPresentPassword,
  findOwner,
  originOf,
  signedIn,
} from '../sign-in.ts';

interface Options {
  appUrl: string;
  closeSockets: (digests: readonly string[]) => void;
}

interface Changed {
  /** null: the code was wrong. */
  userId: number | null;
  name: string;
  oldEmail: string;
  email: string;
  ended: string[];
}

const CODE_DIGITS = 8;

const unchanged = z.object({ success, isChanged: z.literal(false) });
const codeSent = z
  .object({ success, confirmToken: z.string(), expiresAt: time })
  .describe('Confirm with this token and the code that was mailed to the present address');

const tags = ['account'];

export const accounts: FastifyPluginAsyncZod<Options> = async (app, { appUrl, closeSockets }) => {
  app.post(
    '/api/accounts',
    {
      config: { role: 'anyone', rateLimit: {} },
      schema: {
        tags,
        summary: 'Create an account with an invitation, for the address it was sent to',
        security: [],
        body: z.strictObject({ token, name, password }),
        response: { 201: signedIn, ...failures },
      },
    },
    async (request, reply) => {
      const digest = digestOf(request.body.token);
      const [invitation] = await app.database.write<{ email: string }>(
        'select email from identity.look_up_invitation($1)',
        [digest],
      );
      const { name: newName, password: newPassword } = request.body;
      refuseWeakPassword(newPassword, { name: newName, email: invitation?.email ?? '' });
      const passwordHash = await app.passwords.hash(newPassword);
      const [created] = await app.database.write<{ userId: number }>(
        'select identity.create_account($1, $2, $3) as user_id',
        [digest, newName, passwordHash],
      );
      const session = newSessionToken();
      await app.database.write('select * from identity.open_session($1, $2, $3, $4, $5)', [
        created?.userId ?? null,
        digestOf(session),
        'local',
        ...originOf(request),
      ]);
      reply.code(201);
      return answerWithSession(app, reply, appUrl, session);
    },
  );

  app.post(
    '/api/sign-up',
    {
      config: { role: 'anyone', rateLimit: {} },
      schema: {
        tags,
        summary: 'Ask for an account where sign-up is open; the answer is the same for any address',
        security: [],
        body: z.strictObject({ email: newEmail }),
        response: { 202: done, ...failures },
      },
    },
    async (request, reply) => {
      const [open] = await app.database.read<{ isOpen: boolean }>(
        'select identity.is_sign_up_open() as is_open',
      );
      if (!open?.isOpen) throw signUpClosed();
      app.letters.require();
      app.letters.compose('begin a sign-up', async () => {
        const invitation = newSessionToken();
        const [asked] = await app.database.write<{ email: string; hasAccount: boolean }>(
          'select * from identity.sign_up($1, $2)',
          [request.body.email, digestOf(invitation)],
        );
        if (asked === undefined) return undefined;
        return asked.hasAccount
          ? accountExistsLetter(asked.email, appUrl)
          : signUpLetter(asked.email, `${appUrl}/join#${invitation}`);
      });
      return reply.code(202).send({ success: true });
    },
  );

  app.put(
    '/api/account/name',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Change your name',
        body: z.strictObject({ name }),
        response: { 200: done, ...failures },
      },
    },
    async (request) => {
      await request.rows('select api.rename_account($1)', [request.body.name]);
      return { success: true as const };
    },
  );

  app.put(
    '/api/account/email',
    {
      config: { role: 'user', rateLimit: {} },
      schema: {
        tags,
        summary: 'Change your address: with your password at once, without one by a mailed code',
        body: z.strictObject({ email: newEmail, currentPassword: password.optional() }),
        response: { 200: z.union([signedIn, unchanged, codeSent]), ...failures },
      },
    },
    async (request, reply) => {
      const { digest, user } = sessionOf(request);
      const { email, currentPassword } = request.body;
      const owner = await findOwner(app, user.id);
      if (owner.email === email) return { success: true as const, isChanged: false as const };
      reply.header('cache-control', 'no-store');
      if (owner.passwordHash === null) {
        app.letters.require();
        const confirmToken = newSessionToken();
        const mailed = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0');
        const [begun] = await app.database.write<{
          name: string;
          email: string;
          expiresAt: string;
        }>('select * from identity.begin_email_change($1, $2, $3)', [
          user.id,
          email,
          digestOf(`${confirmToken} ${mailed}`),
        ]);
        if (begun === undefined) throw codeGone();
        app.letters.send(emailCodeLetter(begun, email, mailed));
        return { success: true as const, confirmToken, expiresAt: begun.expiresAt };
      }
      await checkPresentPassword(app, owner, currentPassword);
      const replacement = newSessionToken();
      const [changed] = await app.database.write<Changed>(
        'select * from identity.change_credentials($1, $2, $3, null)',
        [digest, digestOf(replacement), email],
      );
      if (changed !== undefined) tellOfChange(changed);
      return answerWithSession(app, reply, appUrl, replacement);
    },
  );

  app.post(
    '/api/account/email/confirm',
    {
      config: { role: 'user', rateLimit: {} },
      schema: {
        tags,
        summary: 'Confirm a change of address with the mailed code',
        body: z.strictObject({ confirmToken: token, code }),
        response: { 200: signedIn, ...failures },
      },
    },
    async (request, reply) => {
      const { confirmToken, code: typed } = request.body;
      const replacement = newSessionToken();
      const [changed] = await app.database.write<Changed>(
        'select * from identity.confirm_email_change($1, $2, $3)',
        [
          sessionOf(request).digest,
          digestOf(`${confirmToken} ${typed.replace(/\s/g, '')}`),
          digestOf(replacement),
        ],
      );
      if (changed === undefined || changed.userId === null) throw codeGone();
      tellOfChange(changed);
      return answerWithSession(app, reply, appUrl, replacement);
    },
  );

  app.post(
    '/api/account/deactivate',
    {
      config: { role: 'user', rateLimit: {} },
      schema: {
        tags,
        summary: 'Leave: deactivates your account and ends every session',
        body: z.strictObject({ currentPassword: password.optional() }),
        response: { 200: done, ...failures },
      },
    },
    async (request, reply) => {
      const { user } = sessionOf(request);
      await checkPresentPassword(app, await findOwner(app, user.id), request.body.currentPassword);
      const [left] = await app.database.write<{ ended: string[] }>(
        'select identity.deactivate($1) as ended',
        [user.id],
      );
      closeSockets(left?.ended ?? []);
      reply.header('set-cookie', expiredSessionCookie(appUrl));
      return { success: true as const };
    },
  );

  app.post(
    '/api/users/:id/deactivate',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Deactivate somebody, as an administrator of the installation',
        params: z.object({ id: idText }),
        response: { 200: done, ...failures },
      },
    },
    async (request) => {
      const { ended } = await request.row<{ ended: string[] }>(
        'select api.deactivate_user($1) as ended',
        [request.params.id],
      );
      closeSockets(ended);
      return { success: true as const };
    },
  );

  app.post(
    '/api/users/:id/reactivate',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Let somebody back in, as an administrator of the installation',
        params: z.object({ id: idText }),
        response: { 200: done, ...failures },
      },
    },
    async (request) => {
      await request.rows('select api.reactivate_user($1)', [request.params.id]);
      return { success: true as const };
    },
  );

  /** The old address is told: whoever has taken an account over must not be the only one to know. */
  function tellOfChange({ name: who, oldEmail, email, ended }: Changed): void {
    closeSockets(ended);
    app.letters.send(emailChangedLetter({ name: who, email: oldEmail }, email));
  }
};

function signUpClosed(): Problem {
  return new Problem(403, 'sign_up_closed', 'Accounts are made by invitation here.', {
    hint: 'Ask somebody who has an account to invite you.',
  });
}

function codeGone(): Problem {
  return new Problem(401, 'wrong_code', 'That code is wrong.', {
    hint: 'Take the one of the latest letter.',
  });
}
