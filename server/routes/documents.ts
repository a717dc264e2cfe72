import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { childrenPage, childrenSql } from '../page.ts';
import {
  done,
  failures,
  html,
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
} from '../schemas.ts';

const listed = z.object({
  id: outId,
  archiveId: outId,
  squadId: outIdOrNull,
  parentId: outIdOrNull,
  title: z.string(),
  createdBy: outIdOrNull,
  updatedBy: outIdOrNull,
  createdAt: time,
  updatedAt: time,
});
type Listed = z.infer<typeof listed>;

const document = listed.extend({ html: z.string() });
type Document = z.infer<typeof document>;

// Without html: a page of documents would be a page of megabytes.
const LIST = childrenSql(
  'api.archives',
  'api.documents',
  'archive_id',
  'id, archive_id, squad_id, parent_id, title, created_by, updated_by, created_at, updated_at',
);

const tags = ['documents'];
const inArchive = z.object({ archiveId: idText });
const byId = z.object({ id: idText });
const answer = { 200: z.object({ success, document }), ...failures };

export const documents: FastifyPluginAsyncZod = async (app) => {
  app.get(
    '/api/archives/:archiveId/documents',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'The documents of an archive, without their text',
        params: inArchive,
        querystring: z.object({ limit: pageSize(LIMITS.page), cursor: idCursor }),
        response: { 200: z.object({ success, items: z.array(listed), nextCursor }), ...failures },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const parameters = [request.params.archiveId, cursor ?? 0, limit + 1];
      return childrenPage(await request.rows<Listed>(LIST, parameters), limit);
    },
  );

  app.post(
    '/api/archives/:archiveId/documents',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Create a document in an archive',
        params: inArchive,
        body: z.strictObject({ title: name, html: html.default(''), parentId: id.nullish() }),
        response: { 201: z.object({ success, document }), ...failures },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const created = await request.row<Document>(
        'select * from api.create_document($1, $2, $3, $4)',
        [request.params.archiveId, body.title, body.html, body.parentId ?? null],
      );
      return reply.code(201).send({ success: true, document: created });
    },
  );

  app.get(
    '/api/documents/:id',
    {
      config: { role: 'user' },
      schema: { tags, summary: 'One document', params: byId, response: answer },
    },
    async (request) => ({
      success: true as const,
      document: await request.row<Document>('select * from api.documents where id = $1', [
        request.params.id,
      ]),
    }),
  );

  app.put(
    '/api/documents/:id',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Save the text of a document',
        params: byId,
        body: z.strictObject({ html }),
        response: answer,
      },
    },
    async (request) => ({
      success: true as const,
      document: await request.row<Document>('select * from api.save_document($1, $2)', [
        request.params.id,
        request.body.html,
      ]),
    }),
  );

  app.put(
    '/api/documents/:id/title',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Rename a document',
        params: byId,
        body: z.strictObject({ title: name }),
        response: answer,
      },
    },
    async (request) => ({
      success: true as const,
      document: await request.row<Document>('select * from api.rename_document($1, $2)', [
        request.params.id,
        request.body.title,
      ]),
    }),
  );

  app.put(
    '/api/documents/:id/parent',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Move a document under another one of its archive, or (null) to the root',
        params: byId,
        body: z.strictObject({ parentId: id.nullable() }),
        response: answer,
      },
    },
    async (request) => ({
      success: true as const,
      document: await request.row<Document>('select * from api.move_document($1, $2)', [
        request.params.id,
        request.body.parentId,
      ]),
    }),
  );

  app.delete(
    '/api/documents/:id',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Delete a document and those under it',
        params: byId,
        response: { 200: done, ...failures },
      },
    },
    async (request) => {
      await request.rows('select api.delete_document($1)', [request.params.id]);
      return { success: true as const };
    },
  );

  app.post(
    '/api/documents/:id/restore',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Bring back the text of a published version',
        params: byId,
        body: z.strictObject({ versionId: id }),
        response: answer,
      },
    },
    async (request) => ({
      success: true as const,
      document: await request.row<Document>('select * from api.restore_document($1, $2)', [
        request.params.id,
        request.body.versionId,
      ]),
    }),
  );
};
