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

const version = z.object({
  id: outId,
  documentId: outId,
  title: z.string(),
  createdBy: outIdOrNull,
  createdAt: time,
});
type Version = z.infer<typeof version>;

const LIST = childrenSql(
  'api.documents',
  'api.versions',
  'document_id',
  'id, document_id, title, created_by, created_at',
);

const tags = ['documents'];
const byId = z.object({ id: idText });

export const versions: FastifyPluginAsyncZod = async (app) => {
  app.get(
    '/api/documents/:id/versions',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'The published versions of a document',
        params: byId,
        querystring: z.object({ limit: pageSize(LIMITS.page), cursor: idCursor }),
        response: { 200: z.object({ success, items: z.array(version), nextCursor }), ...failures },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const parameters = [request.params.id, cursor ?? 0, limit + 1];
      return childrenPage(await request.rows<Version>(LIST, parameters), limit);
    },
  );

  app.post(
    '/api/documents/:id/publish',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Publish a document: keeps its text as a named version',
        params: byId,
        body: z.strictObject({ title: name }),
        response: { 201: z.object({ success, version }), ...failures },
      },
    },
    async (request, reply) => {
      const published = await request.row<Version>('select * from api.publish_document($1, $2)', [
        request.params.id,
        request.body.title,
      ]);
      return reply.code(201).send({ success: true, version: published });
    },
  );

  app.delete(
    '/api/versions/:id',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Delete a published version',
        params: byId,
        response: { 200: done, ...failures },
      },
    },
    async (request) => {
      await request.rows('select api.delete_version($1)', [request.params.id]);
      return { success: true as const };
    },
  );
};
