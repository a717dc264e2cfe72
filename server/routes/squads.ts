import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { childrenPage, childrenSql } from '../page.ts';
import {
  done,
  failures,
  id,
  idCursor,
  idText,
  LIMITS,
  name,
  nextCursor,
  oneOf,
  outId,
  pageSize,
  success,
  time,
} from '../schemas.ts';

const squad = z.object({
  id: outId,
  workspaceId: outId,
  name: z.string(),
  role: z.string().nullable(),
  createdAt: time,
});
type Squad = z.infer<typeof squad>;

const member = z.object({ userId: outId, name: z.string(), role: z.string() });
type Member = z.infer<typeof member>;

const invitation = z.object({ id: outId, squadId: outId, userId: outId, createdAt: time });
type Invitation = z.infer<typeof invitation>;

const ROLES = ['owner', 'lead', 'member', 'guest'] as const;

const LIST = childrenSql(
  'api.workspaces',
  'api.squads',
  'workspace_id',
  'id, workspace_id, name, role, created_at',
);

const tags = ['squads'];
const ofSquad = z.object({ squadId: idText });

export const squads: FastifyPluginAsyncZod = async (app) => {
  app.get(
    '/api/workspaces/:workspaceId/squads',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'The squads of a workspace you can see',
        params: z.object({ workspaceId: idText }),
        querystring: z.object({ limit: pageSize(LIMITS.page), cursor: idCursor }),
        response: { 200: z.object({ success, items: z.array(squad), nextCursor }), ...failures },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const parameters = [request.params.workspaceId, cursor ?? 0, limit + 1];
      return childrenPage(await request.rows<Squad>(LIST, parameters), limit);
    },
  );

  app.post(
    '/api/workspaces/:workspaceId/squads',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Create a squad in a workspace',
        params: z.object({ workspaceId: idText }),
        body: z.strictObject({ name }),
        response: { 201: z.object({ success, squad }), ...failures },
      },
    },
    async (request, reply) => {
      const created = await request.row<Squad>('select * from api.create_squad($1, $2)', [
        request.params.workspaceId,
        request.body.name,
      ]);
      return reply.code(201).send({ success: true, squad: created });
    },
  );

  app.delete(
    '/api/squads/:squadId',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Delete a squad',
        params: ofSquad,
        response: { 200: done, ...failures },
      },
    },
    async (request) => {
      await request.rows('select api.delete_squad($1)', [request.params.squadId]);
      return { success: true as const };
    },
  );

  app.post(
    '/api/squads/:squadId/members',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Add a member of the workspace to a squad, or change their role',
        params: ofSquad,
        body: z.strictObject({ userId: id, role: oneOf(ROLES).default('member') }),
        response: { 201: z.object({ success, member }), ...failures },
      },
    },
    async (request, reply) => {
      const added = await request.row<Member>('select * from api.add_squad_member($1, $2, $3)', [
        request.params.squadId,
        request.body.userId,
        request.body.role,
      ]);
      return reply.code(201).send({ success: true, member: added });
    },
  );

  app.delete(
    '/api/squads/:squadId/members/:userId',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Remove somebody from a squad, or leave it',
        params: ofSquad.extend({ userId: idText }),
        response: { 200: done, ...failures },
      },
    },
    async (request) => {
      const { squadId, userId } = request.params;
      await request.rows('select api.remove_squad_member($1, $2)', [squadId, userId]);
      return { success: true as const };
    },
  );

  app.post(
    '/api/squads/:squadId/invitations',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Invite a member of the workspace to a squad',
        params: ofSquad,
        body: z.strictObject({ userId: id }),
        response: { 201: z.object({ success, invitation }), ...failures },
      },
    },
    async (request, reply) => {
      const created = await request.row<Invitation>('select * from api.invite_to_squad($1, $2)', [
        request.params.squadId,
        request.body.userId,
      ]);
      return reply.code(201).send({ success: true, invitation: created });
    },
  );

  app.post(
    '/api/squad-invitations/:id/accept',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Accept an invitation of yours',
        params: z.object({ id: idText }),
        response: { 200: z.object({ success, member }), ...failures },
      },
    },
    async (request) => ({
      success: true as const,
      member: await request.row<Member>('select * from api.accept_squad_invitation($1)', [
        request.params.id,
      ]),
    }),
  );
};
