import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { newWebhookSecret } from '../../secrets/webhook-secret.ts';
import { page } from '../page.ts';
import {
  type ActorColumns,
  actor,
  actorOf,
  done,
  failures,
  id,
  idCursor,
  idText,
  LIMITS,
  name,
  nextCursor,
  outId,
  outIdOrNull,
  pageSize,
  success,
  time,
  timeOrNull,
} from '../schemas.ts';

const URL_CHARACTERS = 2_000;
const REASON_CHARACTERS = 500;
const TYPE_CHARACTERS = 63;
const MOST_TYPES = 200;

const webhook = z.object({
  id: outId,
  workspaceId: outIdOrNull.describe('null: events of every workspace'),
  url: z.string(),
  name: z.string().nullable(),
  eventTypes: z.array(z.string()).nullable().describe('null: all types'),
  state: z.enum(['delivering', 'stalled', 'off']).describe('stalled: the last attempt failed'),
  isEnabled: z.boolean(),
  disabledReason: z.string().nullable(),
  pausedUntil: timeOrNull,
  consecutiveFailures: z.int(),
  secretCreatedAt: timeOrNull,
  oldSecretExpiresAt: timeOrNull.describe('Until then the secret before this one signs, too'),
  createdBy: actor,
  createdAt: time,
});
type WebhookRow = Omit<z.infer<typeof webhook>, 'createdBy'> & ActorColumns;

const ONE_LINE = /^[^\p{Cc}\p{Surrogate}]*$/u;
const oneLine = z.string().regex(ONE_LINE, 'must be one line of plain characters');
const url = oneLine.min(1).max(URL_CHARACTERS).describe('http or https, without a user name');
const eventTypes = z
  .array(oneLine.min(1).max(TYPE_CHARACTERS))
  .min(1)
  .max(MOST_TYPES)
  .nullable()
  .describe('Of GET /api/webhook-event-types; null: all, later ones included');

const secret = z.string().describe('Shown this once: it can never be read again');
const answer = { 200: z.object({ success, webhook }), ...failures };
const tags = ['webhooks'];
const byId = z.object({ id: idText });

/** No body is an empty one where every field may be left out; Fastify would check it as null. */
async function allowNoBody(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) request.body = {};
}

function webhookOf(row: WebhookRow): z.infer<typeof webhook> {
  return { ...row, createdBy: actorOf(row) };
}

/** Subscriptions. Who administers them is decided in SQL; anybody else gets 404. */
export const webhooks: FastifyPluginAsyncZod = async (app) => {
  app.get(
    '/api/webhooks',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'The webhook subscriptions you administer',
        querystring: z.object({
          workspaceId: idText.optional(),
          limit: pageSize(LIMITS.page),
          cursor: idCursor,
        }),
        response: { 200: z.object({ success, items: z.array(webhook), nextCursor }), ...failures },
      },
    },
    async (request) => {
      const { workspaceId, limit, cursor } = request.query;
      const rows = await request.rows<WebhookRow>('select * from api.list_webhooks($1, $2, $3)', [
        workspaceId ?? null,
        cursor ?? 0,
        limit + 1,
      ]);
      return page(rows.map(webhookOf), limit, (item) => String(item.id));
    },
  );

  app.post(
    '/api/webhooks',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Subscribe an address to events',
        body: z.strictObject({
          url,
          workspaceId: id.nullable().describe('null: of every workspace, for instance admins'),
          eventTypes: eventTypes.default(null),
          name: name.nullable().default(null),
        }),
        response: { 201: z.object({ success, webhook, secret }), ...failures },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const made = newWebhookSecret(app.keyring);
      const row = await request.row<WebhookRow>(
        'select * from api.create_webhook($1, $2, $3, $4, $5, $6)',
        [body.url, body.workspaceId, body.eventTypes, body.name, made.sealId, made.stored],
      );
      return reply
        .code(201)
        .header('cache-control', 'no-store')
        .send({ success: true, webhook: webhookOf(row), secret: made.secret });
    },
  );

  app.get(
    '/api/webhooks/:id',
    {
      config: { role: 'user' },
      schema: { tags, summary: 'One subscription', params: byId, response: answer },
    },
    async (request) => ({
      success: true as const,
      webhook: webhookOf(
        await request.row<WebhookRow>('select * from api.read_webhook($1)', [request.params.id]),
      ),
    }),
  );

  app.put(
    '/api/webhooks/:id',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Change address, types and name of a subscription',
        params: byId,
        body: z.strictObject({ url, eventTypes, name: name.nullable() }),
        response: answer,
      },
    },
    async (request) => {
      const { body } = request;
      const row = await request.row<WebhookRow>(
        'select * from api.change_webhook($1, $2, $3, $4)',
        [request.params.id, body.url, body.eventTypes, body.name],
      );
      return { success: true as const, webhook: webhookOf(row) };
    },
  );

  app.delete(
    '/api/webhooks/:id',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Delete a subscription with its deliveries',
        params: byId,
        response: { 200: done, ...failures },
      },
    },
    async (request) => {
      await request.rows('select api.delete_webhook($1)', [request.params.id]);
      return { success: true as const };
    },
  );

  app.post(
    '/api/webhooks/:id/disable',
    {
      config: { role: 'user' },
      preValidation: allowNoBody,
      schema: {
        tags,
        summary: 'Send nothing more',
        params: byId,
        body: z.strictObject({ reason: oneLine.min(1).max(REASON_CHARACTERS).optional() }),
        response: answer,
      },
    },
    async (request) => {
      const row = await request.row<WebhookRow>('select * from api.disable_webhook($1, $2)', [
        request.params.id,
        request.body.reason ?? null,
      ]);
      return { success: true as const, webhook: webhookOf(row) };
    },
  );

  app.post(
    '/api/webhooks/:id/enable',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Send again, at once: ends a pause, too',
        params: byId,
        response: answer,
      },
    },
    async (request) => {
      const row = await request.row<WebhookRow>('select * from api.enable_webhook($1)', [
        request.params.id,
      ]);
      return { success: true as const, webhook: webhookOf(row) };
    },
  );

  app.post(
    '/api/webhooks/:id/rotate',
    {
      config: { role: 'user' },
      preValidation: allowNoBody,
      schema: {
        tags,
        summary: 'A new secret; the old one signs for a day more, or not at all',
        params: byId,
        body: z.strictObject({ keepOld: z.boolean().default(true) }),
        response: { 200: z.object({ success, webhook, secret }), ...failures },
      },
    },
    async (request, reply) => {
      const made = newWebhookSecret(app.keyring);
      const row = await request.row<WebhookRow>(
        'select * from api.rotate_webhook_secret($1, $2, $3, $4)',
        [request.params.id, request.body.keepOld, made.sealId, made.stored],
      );
      reply.header('cache-control', 'no-store');
      return { success: true as const, webhook: webhookOf(row), secret: made.secret };
    },
  );
};
