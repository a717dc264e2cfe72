import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { page } from '../page.ts';
import {
  done,
  email,
  failures,
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

const workspace = z.object({
  id: outId,
  name: z.string(),
  role: z.string().nullable(),
  createdAt: time,
});
type Workspace = z.infer<typeof workspace>;

const member = z.object({ userId: outId, name: z.string(), role: z.string() });
type Member = z.infer<typeof member>;

const memberDetails = member.extend({ email: z.string(), avatarUrl: z.string().nullable() });
type MemberDetails = z.infer<typeof memberDetails>;

const ROLES = ['owner', 'admin', 'member', 'guest'] as const;

const tags = ['workspaces'];
const inWorkspace = z.object({ workspaceId: idText });

export const workspaces: FastifyPluginAsyncZod = async (app) => {
  app.get(
    '/api/workspaces',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'The workspaces you belong to',
        querystring: z.object({ limit: pageSize(LIMITS.page), cursor: idCursor }),
        response: {
          200: z.object({ success, items: z.array(workspace), nextCursor }),
          ...failures,
        },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const rows = await request.rows<Workspace>(
        'select * from api.workspaces where id > $1 order by id limit $2',
        [cursor ?? 0, limit + 1],
      );
      return page(rows, limit, (row) => String(row.id));
    },
  );

  app.post(
    '/api/workspaces',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Create a workspace and own it',
        body: z.strictObject({ name }),
        response: { 201: z.object({ success, workspace }), ...failures },
      },
    },
    async (request, reply) => {
      const created = await request.row<Workspace>('select * from api.create_workspace($1)', [
        request.body.name,
      ]);
      return reply.code(201).send({ success: true, workspace: created });
    },
  );

  app.get(
    '/api/workspaces/:workspaceId/members',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Who belongs to a workspace',
        params: inWorkspace,
        response: { 200: z.object({ success, items: z.array(memberDetails) }), ...failures },
      },
    },
    async (request) => ({
      success: true as const,
      items: await request.rows<MemberDetails>('select * from api.list_members($1)', [
        request.params.workspaceId,
      ]),
    }),
  );

  app.post(
    '/api/workspaces/:workspaceId/members',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Add somebody to a workspace, or change their role',
        params: inWorkspace,
        body: z.strictObject({ email, role: oneOf(ROLES).default('member') }),
        response: { 201: z.object({ success, member }), ...failures },
      },
    },
    async (request, reply) => {
      const added = await request.row<Member>(
        'select * from api.add_workspace_member($1, $2, $3)',
        [request.params.workspaceId, request.body.email, request.body.role],
      );
      return reply.code(201).send({ success: true, member: added });
    },
  );

  app.delete(
    '/api/workspaces/:workspaceId/members/:userId',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Remove somebody from a workspace',
        params: inWorkspace.extend({ userId: idText }),
        response: { 200: done, ...failures },
      },
    },
    async (request) => {
      const { workspaceId, userId } = request.params;
      await request.rows('select api.remove_workspace_member($1, $2)', [workspaceId, userId]);
      return { success: true as const };
    },
  );
};
