import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { databaseProblem } from '../database-problem.ts';
import { Problem, signInRequired } from '../problem.ts';
import { failures } from '../schemas.ts';
import type { EndReason } from '../sockets/channel.ts';
import { Connection } from '../sockets/connection.ts';
import { findMissed, greet, readCursor } from '../sockets/missed.ts';
import { StreamChannel } from '../sockets/stream-channel.ts';

const RETRY_AFTER_SECONDS = 2;

/** The same feed as /notifications-ws, for whom a plain request is easier: see docs/live-push.md. */
export const stream: FastifyPluginAsyncZod = async (app) => {
  app.get(
    '/api/notifications/stream',
    {
      config: { role: 'user' },
      // It would hold a place and send nothing.
      exposeHeadRoute: false,
      schema: {
        tags: ['notifications'],
        summary: 'Your notifications as they come, as server-sent events',
        headers: z.looseObject({
          'last-event-id': z.string().optional().describe('Sent by a browser that comes back'),
        }),
        querystring: z.object({
          lastEventId: z
            .string()
            .optional()
            .describe('The same, for a client that cannot set the header, which goes first'),
        }),
        response: { 200: z.string().describe('text/event-stream, without an end'), ...failures },
      },
    },
    async (request, reply) => {
      if (request.session === null) throw signInRequired();
      const { user, digest } = request.session;
      const channel = new StreamChannel(reply.raw);
      const connection = new Connection(channel, user.id, digest);
      const added = app.sockets.add(connection);
      if (added !== 'added') throw refusal(added);
      reply.raw.once('close', () => app.sockets.remove(connection));
      const lastId = request.headers['last-event-id'] || request.query.lastEventId;
      const cursor = readCursor(lastId || undefined);
      const sources = { database: app.database, tail: app.pushTail };
      const missed = await findMissed(sources, user.id, cursor).catch((error: unknown) => {
        app.sockets.remove(connection);
        throw databaseProblem(error) ?? unavailable(error);
      });
      reply.hijack();
      if (reply.raw.destroyed) app.sockets.remove(connection);
      channel.begin(reply.getHeaders() as Record<string, string>);
      await greet(connection, missed, cursor);
    },
  );
};

function refusal(reason: EndReason): Problem {
  return reason === 'stopping'
    ? unavailable(undefined)
    : new Problem(429, 'too_many_connections', 'You have as many connections open as you may.', {
        hint: 'Close one; all tabs of a browser can share one.',
      });
}

function unavailable(cause: unknown): Problem {
  return new Problem(503, 'unavailable', 'Live push is not available at the moment.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  });
}
