import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { confirmPage, messagePage } from '../pages.ts';
import { failures, success } from '../schemas.ts';

const BODY_BYTES = 16 * 1024;

const tags = ['notifications'];
const byToken = z.object({ token: z.uuid('is not the token of a letter') });

/**
 * The link at the foot of a letter. A GET only asks, since mail scanners follow links; the POST
 * (a mail program's one click of RFC 8058, or the page's button) ends this kind of e-mail.
 */
export const unsubscribe: FastifyPluginAsyncZod = async (app) => {
  // `List-Unsubscribe=One-Click` comes as a form; beyond its coming it says nothing of interest.
  app.addContentTypeParser(
    ['application/x-www-form-urlencoded', 'multipart/form-data'],
    { parseAs: 'string' },
    (_request, _body, done) => done(null, undefined),
  );

  app.get(
    '/api/unsubscribe/:token',
    {
      config: { role: 'anyone', page: true },
      schema: {
        tags,
        summary: 'A page that asks whether to stop this kind of e-mail',
        security: [],
        params: byToken,
        response: { 200: z.string().describe('An HTML page'), ...failures },
      },
    },
    async (request, reply) => {
      const action = `/api/unsubscribe/${request.params.token}`;
      return reply
        .type('text/html; charset=utf-8')
        .header('cache-control', 'no-store')
        .serializer(String)
        .send(confirmPage('Stop these e-mails?', 'You will still see them in your inbox.', action));
    },
  );

  app.post(
    '/api/unsubscribe/:token',
    {
      bodyLimit: BODY_BYTES,
      config: { role: 'anyone', page: true },
      schema: {
        tags,
        summary: 'Stop this kind of e-mail (one-click, RFC 8058)',
        security: [],
        params: byToken,
        response: {
          // The page's button gets a page back; a mail program reads neither.
          200: z.union([z.object({ success, kind: z.string(), email: z.string() }), z.string()]),
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const row = await request.row<{ kind: string; email: string }>(
        'select kind, email from api.unsubscribe($1)',
        [request.params.token],
      );
      reply.header('cache-control', 'no-store');
      if ((request.headers.accept ?? '').includes('text/html')) {
        reply.type('text/html; charset=utf-8').serializer(String);
        const text = `${row.email} gets no more e-mails of this kind.`;
        return reply.send(messagePage('Done', text));
      }
      return { success: true as const, ...row };
    },
  );
};
