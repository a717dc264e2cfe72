import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { page } from '../page.ts';
import {
  type ActorColumns,
  actor,
  actorOf,
  failures,
  idCursor,
  idText,
  LIMITS,
  nextCursor,
  outId,
  outIdOrNull,
  pageSize,
  success,
  time,
} from '../schemas.ts';

const change = z.object({
  id: outId,
  at: time,
  actor: actor.describe('null: an administrator of the database'),
  webhookId: outId,
  workspaceId: outIdOrNull,
  what: z.string().describe('created, changed, disabled, …'),
  details: z.unknown(),
});
type ChangeRow = Omit<z.infer<typeof change>, 'actor'> & ActorColumns;

const eventType = z.object({
  type: z.string(),
  description: z.string(),
  dataSchema: z.unknown().describe('A JSON schema of data'),
  example: z.unknown().describe('An example of data'),
});
type EventType = z.infer<typeof eventType>;

const tags = ['webhooks'];

/** Who did what to subscriptions, and what there is to subscribe to. */
export const webhookRecords: FastifyPluginAsyncZod = async (app) => {
  app.get(
    '/api/webhook-changes',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Who did what to the subscriptions you administer, newest first',
        querystring: z.object({
          workspaceId: idText.optional(),
          webhookId: idText.optional().describe('It may be gone'),
          limit: pageSize(LIMITS.page),
          cursor: idCursor,
        }),
        response: { 200: z.object({ success, items: z.array(change), nextCursor }), ...failures },
      },
    },
    async (request) => {
      const { workspaceId, webhookId, limit, cursor } = request.query;
      const rows = await request.rows<ChangeRow>(
        'select * from api.list_webhook_changes($1, $2, $3, $4)',
        [workspaceId ?? null, webhookId ?? null, cursor ?? null, limit + 1],
      );
      const changes = rows.map((row) => ({ ...row, actor: actorOf(row) }));
      return page(changes, limit, (row) => String(row.id));
    },
  );

  app.get(
    '/api/webhook-event-types',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'The types of events, each with a schema and an example of its data',
        response: { 200: z.object({ success, items: z.array(eventType) }), ...failures },
      },
    },
    async (request) => ({
      success: true as const,
      items: await request.rows<EventType>('select * from api.list_webhook_event_types()'),
    }),
  );
};
