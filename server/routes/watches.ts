import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { page } from '../page.ts';
import {
  done,
  failures,
  idCursor,
  LIMITS,
  nextCursor,
  oneOf,
  pageSize,
  resourceId,
  resourceIdText,
  resourceType,
  success,
  time,
} from '../schemas.ts';

const watch = z.object({
  resourceType: z.string(),
  resourceId: z.string(),
  resourceName: z.string().nullable(),
  source: z.string(),
  level: z.string(),
  createdAt: time,
});
type Watch = z.infer<typeof watch>;

const state = z.object({
  watching: z.boolean(),
  source: z.string().nullable(),
  level: z.string().nullable(),
});
type State = z.infer<typeof state>;

const LEVELS = ['watching', 'ignored'] as const;

const LIST =
  'select * from api.watches ' +
  'order by created_at desc, resource_type, resource_id limit $1 offset $2';

const tags = ['watches'];
const byResource = z.object({ type: resourceType, id: resourceIdText });

export const watches: FastifyPluginAsyncZod = async (app) => {
  app.get(
    '/api/watches',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'What you watch or ignore, newest first',
        querystring: z.object({ limit: pageSize(LIMITS.page), cursor: idCursor }),
        response: { 200: z.object({ success, items: z.array(watch), nextCursor }), ...failures },
      },
    },
    async (request) => {
      const { limit } = request.query;
      const skipped = request.query.cursor ?? 0;
      const rows = await request.rows<Watch>(LIST, [limit + 1, skipped]);
      return page(rows, limit, () => String(skipped + limit));
    },
  );

  app.get(
    '/api/watches/:type/:id',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Whether you watch one thing',
        params: byResource,
        response: { 200: state.extend({ success }), ...failures },
      },
    },
    async (request) => ({
      success: true as const,
      ...(await request.row<State>('select * from api.watch_state($1, $2)', [
        request.params.type,
        request.params.id,
      ])),
    }),
  );

  app.post(
    '/api/watches',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Watch something, or ignore it',
        body: z.strictObject({
          resourceType,
          resourceId,
          level: oneOf(LEVELS).default('watching'),
        }),
        response: { 200: state.extend({ success }), ...failures },
      },
    },
    async (request) => {
      const { body } = request;
      const row = await request.row<State>('select * from api.watch($1, $2, $3)', [
        body.resourceType,
        body.resourceId,
        body.level,
      ]);
      return { success: true as const, ...row };
    },
  );

  app.delete(
    '/api/watches/:type/:id',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Stop watching or ignoring',
        params: byResource,
        response: { 200: done, ...failures },
      },
    },
    async (request) => {
      await request.rows('select api.unwatch($1, $2)', [request.params.type, request.params.id]);
      return { success: true as const };
    },
  );
};
