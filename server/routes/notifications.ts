import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { page } from '../page.ts';
import {
  type ActorColumns,
  actor,
  actorOf,
  cursor,
  failures,
  flagText,
  idText,
  LIMITS,
  nextCursor,
  outId,
  outIdOrNull,
  pageSize,
  success,
  time,
  timeOrNull,
} from '../schemas.ts';

const notification = z.object({
  id: outId,
  kind: z.string(),
  title: z.string(),
  body: z.string().nullable(),
  linkPath: z.string().nullable(),
  workspaceId: outId,
  scopeId: outIdOrNull,
  resourceType: z.string().nullable(),
  resourceId: z.string().nullable(),
  activityId: outIdOrNull,
  metadata: z.unknown(),
  coalescedCount: z.int(),
  actor,
  createdAt: time,
  readAt: timeOrNull,
  cursor: z.string().describe('The place of this item in the list'),
});
type Notification = z.infer<typeof notification>;
type NotificationRow = Omit<Notification, 'actor'> & ActorColumns;

const LIST =
  'select listed.*, (select api.unread_count()) as unread_count ' +
  'from (select 1) as always left join api.list_notifications($1, $2, $3) as listed on true';

const tags = ['notifications'];

export const notifications: FastifyPluginAsyncZod = async (app) => {
  app.get(
    '/api/notifications',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Your inbox, newest first',
        querystring: z.object({
          cursor,
          limit: pageSize(LIMITS.notificationPage),
          unread: flagText.describe('Only what is not read yet'),
        }),
        response: {
          200: z.object({
            success,
            items: z.array(notification),
            unreadCount: z.int(),
            nextCursor,
          }),
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const { limit, unread } = request.query;
      // One row at least, so that an empty inbox still brings its count.
      const rows = await request.rows<NotificationRow & { unreadCount: number }>(LIST, [
        request.query.cursor ?? null,
        limit + 1,
        unread,
      ]);
      const listed = rows
        .filter((row) => row.id !== null)
        .map((row) => ({ ...row, actor: actorOf(row) }));
      reply.header('cache-control', 'no-store');
      return {
        ...page(listed, limit, (row) => row.cursor),
        unreadCount: rows[0]?.unreadCount ?? 0,
      };
    },
  );

  app.get(
    '/api/notifications/unread-count',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'How many are not read yet',
        response: { 200: z.object({ success, unreadCount: z.int() }), ...failures },
      },
    },
    async (request, reply) => {
      const { unreadCount } = await request.row<{ unreadCount: number }>(
        'select api.unread_count() as unread_count',
      );
      reply.header('cache-control', 'no-store');
      return { success: true as const, unreadCount };
    },
  );

  app.post(
    '/api/notifications/:id/read',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Mark one as read; reading twice is fine',
        params: z.object({ id: idText }),
        response: { 204: z.undefined().describe('Read'), ...failures },
      },
    },
    async (request, reply) => {
      await request.rows('select api.mark_notification_read($1)', [request.params.id]);
      return reply.code(204).send();
    },
  );

  app.post(
    '/api/notifications/read-all',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Mark all as read',
        response: { 200: z.object({ success, updated: z.int() }), ...failures },
      },
    },
    async (request) => {
      const { updated } = await request.row<{ updated: number }>(
        'select api.mark_all_notifications_read() as updated',
      );
      return { success: true as const, updated };
    },
  );
};
