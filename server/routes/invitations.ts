import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { invitationLetter } from '../mail/letters.ts';
import { page } from '../page.ts';
import { sessionOf } from '../plugins/authentication.ts';
import {
  done,
  failures,
  id,
  idCursor,
  idText,
  LIMITS,
  newEmail,
  nextCursor,
  oneOf,
  outId,
  pageSize,
  success,
  time,
  token,
} from '../schemas.ts';
import { digestOf, newSessionToken } from '../session-token.ts';

interface Options {
  appUrl: string;
}

const invitation = z.object({
  id: outId,
  email: z.string(),
  workspaceId: outId.nullable(),
  role: z.string().nullable(),
  squadId: outId.nullable(),
  squadRole: z.string().nullable(),
  invitedBy: z.string(),
  createdAt: time,
  expiresAt: time,
});
type Invitation = z.infer<typeof invitation>;

const description = z.object({
  email: z.string(),
  workspaceName: z.string().nullable(),
  role: z.string().nullable(),
  squadName: z.string().nullable(),
  invitedBy: z.string().nullable(),
  expiresAt: time,
  hasAccount: z.boolean().describe('Sign in and accept it; otherwise create an account with it'),
});

const WORKSPACE_ROLES = ['owner', 'admin', 'member', 'guest'] as const;
const SQUAD_ROLES = ['owner', 'lead', 'member', 'guest'] as const;

const tags = ['invitations'];

export const invitations: FastifyPluginAsyncZod<Options> = async (app, { appUrl }) => {
  app.post(
    '/api/invitations',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Invite an address to a workspace, or to the installation alone',
        body: z.strictObject({
          email: newEmail,
          workspaceId: id.optional(),
          role: oneOf(WORKSPACE_ROLES).optional(),
          squadId: id.optional(),
          squadRole: oneOf(SQUAD_ROLES).optional(),
        }),
        response: {
          201: z.object({
            success,
            invitation,
            link: z.string().nullable().describe('Only where no e-mail is sent: hand it over'),
          }),
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const { email, workspaceId, role, squadId, squadRole } = request.body;
      const invitationToken = newSessionToken();
      const [made] = await app.database.write<Invitation & { workspaceName: string | null }>(
        'select * from identity.invite($1, $2, $3, $4, $5, $6, $7)',
        [
          sessionOf(request).user.id,
          email,
          workspaceId ?? null,
          role ?? (workspaceId === undefined ? null : 'member'),
          squadId ?? null,
          squadRole ?? (squadId === undefined ? null : 'member'),
          digestOf(invitationToken),
        ],
      );
      if (made === undefined) throw new Error('invite() returned no row');
      const url = `${appUrl}/join#${invitationToken}`;
      app.letters.send(invitationLetter(made, url));
      reply.code(201).header('cache-control', 'no-store');
      const link = app.letters.isEnabled ? null : url;
      return { success: true as const, invitation: made, link };
    },
  );

  app.get(
    '/api/invitations',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Open invitations to a workspace, or to the installation alone',
        querystring: z.object({
          workspaceId: idText.optional(),
          limit: pageSize(LIMITS.page),
          cursor: idCursor,
        }),
        response: {
          200: z.object({ success, items: z.array(invitation), nextCursor }),
          ...failures,
        },
      },
    },
    async (request) => {
      const { workspaceId, limit, cursor } = request.query;
      const rows = await request.rows<Invitation>(
        'select * from api.list_invitations($1, $2, $3)',
        [workspaceId ?? null, cursor ?? 0, limit + 1],
      );
      return page(rows, limit, (row) => String(row.id));
    },
  );

  app.delete(
    '/api/invitations/:id',
    {
      config: { role: 'user' },
      schema: {
        tags,
        summary: 'Take an open invitation back',
        params: z.object({ id: idText }),
        response: { 200: done, ...failures },
      },
    },
    async (request) => {
      await request.rows('select api.revoke_invitation($1)', [request.params.id]);
      return { success: true as const };
    },
  );

  app.post(
    '/api/invitations/look-up',
    {
      config: { role: 'anyone', rateLimit: {} },
      schema: {
        tags,
        summary: 'What the invitation of a link is for',
        security: [],
        body: z.strictObject({ token }),
        response: { 200: z.object({ success, invitation: description }), ...failures },
      },
    },
    async (request, reply) => {
      const [found] = await app.database.write<z.infer<typeof description>>(
        'select * from identity.look_up_invitation($1)',
        [digestOf(request.body.token)],
      );
      if (found === undefined) throw new Error('look_up_invitation() returned no row');
      reply.header('cache-control', 'no-store');
      return { success: true as const, invitation: found };
    },
  );

  app.post(
    '/api/invitations/accept',
    {
      config: { role: 'user', rateLimit: {} },
      schema: {
        tags,
        summary: 'Accept an invitation with the account you are signed in with',
        body: z.strictObject({ token }),
        response: {
          200: z.object({
            success,
            workspaceId: outId.nullable(),
            squadId: outId.nullable(),
          }),
          ...failures,
        },
      },
    },
    async (request) => {
      const [joined] = await app.database.write<{
        workspaceId: number | null;
        squadId: number | null;
      }>('select * from identity.accept_invitation($1, $2)', [
        sessionOf(request).user.id,
        digestOf(request.body.token),
      ]);
      return {
        success: true as const,
        workspaceId: joined?.workspaceId ?? null,
        squadId: joined?.squadId ?? null,
      };
    },
  );
};
