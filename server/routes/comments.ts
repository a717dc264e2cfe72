import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { childrenPage, childrenSql } from '../page.ts';
import {
  commentBody,
  done,
  failures,
  id,
  idCursor,
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

const comment = z.object({
  id: outId,
  documentId: outId,
  parentId: outIdOrNull,
  body: z.string(),
  authorId: outIdOrNull,
  createdAt: time,
  updatedAt: time,
  resolvedAt: timeOrNull,
});
type Comment = z.infer<typeof comment>;

const LIST = childrenSql(
  'api.documents',
  'api.comments',
  'document_id',
  'id, document_id, parent_id, body, author_id, created_at, updated_at, resolved_at',
);

const tags = ['comments'];
const byId = z.object({ id: idText });
const answer = { 200: z.object({ success, comment }), ...failures };

export const comments: FastifyPluginAsyncZod = async (app) => {
  app.get(
    '/api/documents/:id/comments',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'The comments on a document, oldest first',
        params: byId,
        querystring: z.object({ limit: pageSize(LIMITS.page), cursor: idCursor }),
        response: { 200: z.object({ success, items: z.array(comment), nextCursor }), ...failures },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const parameters = [request.params.id, cursor ?? 0, limit + 1];
      return childrenPage(await request.rows<Comment>(LIST, parameters), limit);
    },
  );

  app.post(
    '/api/documents/:id/comments',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Comment on a document, or reply to a comment',
        params: byId,
        body: z.strictObject({ body: commentBody, parentId: id.nullish() }),
        response: { 201: z.object({ success, comment }), ...failures },
      },
    },
    async (request, reply) => {
      const created = await request.row<Comment>('select * from api.create_comment($1, $2, $3)', [
        request.params.id,
        request.body.body,
        request.body.parentId ?? null,
      ]);
      return reply.code(201).send({ success: true, comment: created });
    },
  );

  app.put(
    '/api/comments/:id',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Edit a comment of yours',
        params: byId,
        body: z.strictObject({ body: commentBody }),
        response: answer,
      },
    },
    async (request) => ({
      success: true as const,
      comment: await request.row<Comment>('select * from api.edit_comment($1, $2)', [
        request.params.id,
        request.body.body,
      ]),
    }),
  );

  app.post(
    '/api/comments/:id/resolve',
    {
      config: { role: 'user' },
      schema: { tags, summary: 'Mark a comment as resolved', params: byId, response: answer },
    },
    async (request) => ({
      success: true as const,
      comment: await request.row<Comment>('select * from api.resolve_comment($1)', [
        request.params.id,
      ]),
    }),
  );

  app.post(
    '/api/comments/:id/reopen',
    {
      config: { role: 'user' },
      schema: { tags, summary: 'Reopen a resolved comment', params: byId, response: answer },
    },
    async (request) => ({
      success: true as const,
      comment: await request.row<Comment>('select * from api.reopen_comment($1)', [
        request.params.id,
      ]),
    }),
  );

  app.delete(
    '/api/comments/:id',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Delete a comment and its replies',
        params: byId,
        response: { 200: done, ...failures },
      },
    },
    async (request) => {
      await request.rows('select api.delete_comment($1)', [request.params.id]);
      return { success: true as const };
    },
  );
};
