import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { childrenPage, childrenSql } from '../page.ts';
import {
  done,
  failures,
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
} from '../schemas.ts';

const archive = z.object({
  id: outId,
  squadId: outIdOrNull,
  name: z.string(),
  createdBy: outIdOrNull,
  createdAt: time,
});
type Archive = z.infer<typeof archive>;

const LIST = childrenSql(
  'api.squads',
  'api.archives',
  'squad_id',
  'id, squad_id, name, created_by, created_at',
);

const tags = ['archives'];
const inSquad = z.object({ squadId: idText });
const byId = z.object({ id: idText });

export const archives: FastifyPluginAsyncZod = async (app) => {
  app.get(
    '/api/squads/:squadId/archives',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'The archives of a squad',
        params: inSquad,
        querystring: z.object({ limit: pageSize(LIMITS.page), cursor: idCursor }),
        response: { 200: z.object({ success, items: z.array(archive), nextCursor }), ...failures },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const parameters = [request.params.squadId, cursor ?? 0, limit + 1];
      return childrenPage(await request.rows<Archive>(LIST, parameters), limit);
    },
  );

  app.post(
    '/api/squads/:squadId/archives',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Create an archive in a squad',
        params: inSquad,
        body: z.strictObject({ name }),
        response: { 201: z.object({ success, archive }), ...failures },
      },
    },
    async (request, reply) => {
      const created = await request.row<Archive>('select * from api.create_archive($1, $2)', [
        request.params.squadId,
        request.body.name,
      ]);
      return reply.code(201).send({ success: true, archive: created });
    },
  );

  app.put(
    '/api/archives/:id/name',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Rename an archive',
        params: byId,
        body: z.strictObject({ name }),
        response: { 200: z.object({ success, archive }), ...failures },
      },
    },
    async (request) => ({
      success: true as const,
      archive: await request.row<Archive>('select * from api.rename_archive($1, $2)', [
        request.params.id,
        request.body.name,
      ]),
    }),
  );

  app.delete(
    '/api/archives/:id',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Delete an archive and its documents',
        params: byId,
        response: { 200: done, ...failures },
      },
    },
    async (request) => {
      await request.rows('select api.delete_archive($1)', [request.params.id]);
      return { success: true as const };
    },
  );
};
