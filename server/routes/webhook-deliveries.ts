import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { page } from '../page.ts';
import {
  done,
  failures,
  id,
  idCursor,
  idText,
  LIMITS,
  nextCursor,
  oneOf,
  outId,
  outIdOrNull,
  pageSize,
  success,
  time,
  timeOrNull,
} from '../schemas.ts';

const delivery = z.object({
  id: outId,
  eventId: z.string().describe('The webhook-id of the request'),
  type: z.string(),
  sequence: outIdOrNull.describe('null: not numbered yet'),
  position: outIdOrNull.describe('null: not attempted yet, or a test'),
  state: z.string(),
  attempts: z.int().describe('Those that failed'),
  lastStatus: z.int().nullable(),
  lastError: z.string().nullable(),
  lastDurationMs: z.int().nullable(),
  lastAttemptAt: timeOrNull,
  deliveredAt: timeOrNull,
  occurredAt: time,
  createdAt: time,
  replayedAt: timeOrNull,
  isTest: z.boolean(),
  isExpired: z.boolean().describe('Too old to be sent, and to be sent again but by a replay'),
});
type Delivery = z.infer<typeof delivery>;

const replay = z.object({
  replayed: z.int(),
  firstSequence: outIdOrNull,
  lastSequence: outIdOrNull,
  nextSequence: outIdOrNull.describe('Where to go on, when there was more than one replay takes'),
});
type Replay = z.infer<typeof replay>;

const STATES = ['pending', 'delivered', 'dead'] as const;

const tags = ['webhooks'];
const byId = z.object({ id: idText });

/** What was sent to a subscription and what is to be sent again. */
export const webhookDeliveries: FastifyPluginAsyncZod = async (app) => {
  app.get(
    '/api/webhooks/:id/deliveries',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'The last deliveries, newest first',
        params: byId,
        querystring: z.object({
          state: oneOf(STATES).optional(),
          limit: pageSize(LIMITS.page),
          cursor: idCursor,
        }),
        response: { 200: z.object({ success, items: z.array(delivery), nextCursor }), ...failures },
      },
    },
    async (request) => {
      const { state, limit, cursor } = request.query;
      const rows = await request.rows<Delivery>(
        'select * from api.list_webhook_deliveries($1, $2, $3, $4)',
        [request.params.id, state ?? null, cursor ?? null, limit + 1],
      );
      return page(rows, limit, (row) => String(row.id));
    },
  );

  app.post(
    '/api/webhooks/:id/test',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Send a test event; see its delivery for what became of it',
        params: byId,
        response: { 201: z.object({ success, deliveryId: outId }), ...failures },
      },
    },
    async (request, reply) => {
      const { deliveryId } = await request.row<{ deliveryId: number }>(
        'select api.test_webhook($1) as delivery_id',
        [request.params.id],
      );
      return reply.code(201).send({ success: true, deliveryId });
    },
  );

  app.post(
    '/api/webhooks/:id/replay',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Send past events again, as new deliveries',
        params: byId,
        body: z
          .strictObject({
            since: z.iso.datetime({ offset: true }).optional(),
            fromSequence: id.optional(),
          })
          .refine(
            (body) => (body.since === undefined) !== (body.fromSequence === undefined),
            'takes either since or fromSequence',
          ),
        response: { 200: replay.extend({ success }), ...failures },
      },
    },
    async (request) => ({
      success: true as const,
      ...(await request.row<Replay>('select * from api.replay_webhook($1, $2, $3)', [
        request.params.id,
        request.body.since ?? null,
        request.body.fromSequence ?? null,
      ])),
    }),
  );

  app.post(
    '/api/webhook-deliveries/:id/redeliver',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Send a dead delivery again; what is pending waits for it',
        params: byId,
        response: { 200: done, ...failures },
      },
    },
    async (request) => {
      await request.rows('select api.redeliver_webhook($1)', [request.params.id]);
      return { success: true as const };
    },
  );

  app.post(
    '/api/webhook-deliveries/:id/skip',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Give up the oldest pending delivery, so that the next one is sent',
        params: byId,
        response: { 200: done, ...failures },
      },
    },
    async (request) => {
      await request.rows('select api.skip_webhook($1)', [request.params.id]);
      return { success: true as const };
    },
  );
};
