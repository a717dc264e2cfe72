import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { page } from '../page.ts';
import {
  type ActorColumns,
  actor,
  actorOf,
  cursor,
  failures,
  idText,
  LIMITS,
  nextCursor,
  outId,
  outIdOrNull,
  pageSize,
  resourceIdText,
  resourceType,
  success,
  time,
} from '../schemas.ts';

const entry = z.object({
  id: outId,
  action: z.string(),
  actor,
  workspaceId: outIdOrNull,
  scopeId: outIdOrNull,
  resourceType: z.string().nullable(),
  resourceId: z.string().nullable(),
  resourceTitle: z.string().nullable(),
  metadata: z.unknown(),
  occurredAt: time,
  createdAt: time,
});
type EntryRow = Omit<z.infer<typeof entry>, 'actor'> & ActorColumns & { cursor: string };

export const activity: FastifyPluginAsyncZod = async (app) => {
  app.get(
    '/api/activity',
    {
      config: { role: 'user' },
      schema: {
        tags: ['activity'],
        summary: 'What happened where you can read, newest first',
        querystring: z
          .object({
            workspaceId: idText.optional(),
            resourceType: resourceType.optional(),
            resourceId: resourceIdText.optional(),
            cursor,
            limit: pageSize(LIMITS.notificationPage),
          })
          .refine((query) => query.resourceId === undefined || query.resourceType !== undefined, {
            path: ['resourceId'],
            message: 'needs resourceType beside it',
          }),
        response: { 200: z.object({ success, items: z.array(entry), nextCursor }), ...failures },
      },
    },
    async (request) => {
      const { query } = request;
      const rows = await request.rows<EntryRow>(
        'select * from api.list_activity($1, $2, $3, $4, $5)',
        [
          query.workspaceId ?? null,
          query.resourceType ?? null,
          query.resourceId ?? null,
          query.cursor ?? null,
          query.limit + 1,
        ],
      );
      const entries = rows.map((row) => ({ ...row, actor: actorOf(row) }));
      return page(entries, query.limit, (row) => row.cursor);
    },
  );
};
