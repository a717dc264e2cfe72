import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { secondFactorContext } from '../../secrets/second-factor-secret.ts';
import { secondFactorLetter } from '../mail/letters.ts';
import { sessionOf } from '../plugins/authentication.ts';
import { code, done, failures, password, success, timeOrNull } from '../schemas.ts';
import {
  matchedStep,
  newRecoveryCodes,
  newSecret,
  recoveryDigest,
  secretUri,
} from '../second-factor.ts';
import { checkPresentPassword, findOwner, refuseWrongCode } from '../sign-in.ts';

const state = z.object({
  isEnabled: z.boolean(),
  enabledAt: timeOrNull,
  recoveryCodesLeft: z.int(),
});

const recoveryCodes = z.object({ success, recoveryCodes: z.array(z.string()) });
const withCode = z.strictObject({ currentPassword: password.optional(), code });

const tags = ['second factor'];

export const secondFactor: FastifyPluginAsyncZod = async (app) => {
  app.get(
    '/api/account/second-factor',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Whether you sign in with a second factor',
        response: { 200: z.object({ success, secondFactor: state }), ...failures },
      },
    },
    async (request) => ({
      success: true as const,
      secondFactor: await request.row<z.infer<typeof state>>(
        'select * from api.second_factor_state()',
      ),
    }),
  );

  app.post(
    '/api/account/second-factor',
    {
      config: { role: 'user', rateLimit: {} },
      schema: {
        tags,
        summary: 'Begin with a new secret for an authenticator app; it is on with its first code',
        body: z.strictObject({ currentPassword: password.optional() }),
        response: { 201: z.object({ success, secret: z.string(), uri: z.string() }), ...failures },
      },
    },
    async (request, reply) => {
      const { user } = sessionOf(request);
      const owner = await findOwner(app, user.id);
      await checkPresentPassword(app, owner, request.body.currentPassword);
      const secret = newSecret();
      await app.database.write('select identity.begin_second_factor($1, $2)', [
        user.id,
        app.keyring.seal(secret, secondFactorContext(user.id)),
      ]);
      reply.code(201).header('cache-control', 'no-store');
      return { success: true as const, secret, uri: secretUri(secret, owner.email) };
    },
  );

  app.post(
    '/api/account/second-factor/enable',
    {
      config: { role: 'user', rateLimit: {} },
      schema: {
        tags,
        summary: 'Turn it on with its first code; answers the recovery codes, this once',
        body: z.strictObject({ code }),
        response: { 200: recoveryCodes, ...failures },
      },
    },
    async (request, reply) => {
      const { user } = sessionOf(request);
      const codes = newRecoveryCodes();
      await app.database.write('select identity.enable_second_factor($1, $2, $3)', [
        user.id,
        await stepOf(user.id, request.body.code),
        codes.map(recoveryDigest),
      ]);
      app.letters.send(secondFactorLetter(user, true));
      reply.header('cache-control', 'no-store');
      return { success: true as const, recoveryCodes: codes };
    },
  );

  app.post(
    '/api/account/second-factor/disable',
    {
      config: { role: 'user', rateLimit: {} },
      schema: {
        tags,
        summary: 'Turn it off, with your password and a code',
        body: withCode,
        response: { 200: done, ...failures },
      },
    },
    async (request) => {
      const { user } = sessionOf(request);
      const { currentPassword, code: typed } = request.body;
      await checkPresentPassword(app, await findOwner(app, user.id), currentPassword);
      const [checked] = await app.database.write<{ outcome: string }>(
        'select identity.disable_second_factor($1, $2, $3) as outcome',
        [user.id, await stepOf(user.id, typed), recoveryDigest(typed)],
      );
      refuseWrongCode(checked?.outcome, 'right');
      app.letters.send(secondFactorLetter(user, false));
      return { success: true as const };
    },
  );

  app.post(
    '/api/account/second-factor/recovery-codes',
    {
      config: { role: 'user', rateLimit: {} },
      schema: {
        tags,
        summary: 'New recovery codes instead of those that are left, with your password and a code',
        body: withCode,
        response: { 200: recoveryCodes, ...failures },
      },
    },
    async (request, reply) => {
      const { user } = sessionOf(request);
      const { currentPassword, code: typed } = request.body;
      await checkPresentPassword(app, await findOwner(app, user.id), currentPassword);
      const codes = newRecoveryCodes();
      const [checked] = await app.database.write<{ outcome: string }>(
        'select identity.replace_recovery_codes($1, $2, $3, $4) as outcome',
        [user.id, await stepOf(user.id, typed), recoveryDigest(typed), codes.map(recoveryDigest)],
      );
      refuseWrongCode(checked?.outcome, 'right');
      reply.header('cache-control', 'no-store');
      return { success: true as const, recoveryCodes: codes };
    },
  );

  /** The time step whose code was typed; null for any other, and where there is no secret. */
  async function stepOf(userId: number, typed: string): Promise<number | null> {
    const [factor] = await app.database.read<{ secret: string }>(
      'select secret from identity.find_second_factor($1)',
      [userId],
    );
    if (factor === undefined) return null;
    return matchedStep(app.keyring.open(factor.secret, secondFactorContext(userId)), typed);
  }
};
