import websocket from '@fastify/websocket';
import type { FastifyBaseLogger } from 'fastify';
import fp from 'fastify-plugin';
import type { Database } from '../database.ts';
import { isOwnOrigin } from '../origins.ts';
import { Problem } from '../problem.ts';
import { cookieName, cookieToken } from '../session-token.ts';
import { beginHandshake } from './handshake.ts';
import { ConnectionHub } from './hub.ts';
import { PushTail } from './push-tail.ts';
import { CLOSE } from './socket-channel.ts';

/** How long things take; tests take shorter ones. */
export interface SocketTimings {
  authTimeoutMs: number;
  pingMs: number;
  recheckMs: number;
}

interface Options {
  appUrl: string;
  databaseUrl: string;
  timings: Partial<SocketTimings>;
}

export const TIMINGS: SocketTimings = { authTimeoutMs: 5_000, pingMs: 30_000, recheckMs: 60_000 };
const MOST_PAYLOAD_BYTES = 16 * 1024;
const RECHECK_BATCH = 500;
/** After a polite close a client that does not answer is cut off. */
const CLOSE_GRACE_MS = 1_000;

declare module 'fastify' {
  interface FastifyInstance {
    /** The signed-in sockets and streams of this process. */
    sockets: ConnectionHub;
    pushTail: PushTail;
  }
}

/** Upgrades, at the root: also an upgrade of a path without sockets must be answered and ended. */
export const upgradesPlugin = fp(
  async (app) => {
    app.decorate('sockets', new ConnectionHub());
    await app.register(websocket, {
      options: { maxPayload: MOST_PAYLOAD_BYTES },
      errorHandler: (error, socket, request) => {
        request.log.debug({ err: error }, 'socket failed');
        socket.terminate();
      },
      preClose(done) {
        const { clients } = this.websocketServer;
        for (const socket of clients) socket.close(CLOSE.shuttingDown, 'Server shutting down');
        setTimeout(() => {
          for (const socket of clients) socket.terminate();
        }, CLOSE_GRACE_MS).unref();
        this.websocketServer.close();
        done();
      },
    });
  },
  { name: 'bellwire-upgrades', fastify: '5.x' },
);

/** Live push to whoever is signed in: what both ways of it share, and /notifications-ws. */
export const socketsPlugin = fp(
  async (app, options: Options) => {
    const timings = { ...TIMINGS, ...options.timings };
    const hub = app.sockets;
    const tail = new PushTail({
      databaseUrl: options.databaseUrl,
      log: app.log,
      listeners: () => hub.userIds(),
      onLook: (look) => {
        hub.deliver(look);
        app.metrics.pushes(look);
      },
    });
    app.decorate('pushTail', tail);
    app.route({
      method: 'GET',
      url: '/notifications-ws',
      schema: { hide: true },
      onRequest: async ({ ws, headers }) => {
        if (!ws) {
          throw new Problem(426, 'upgrade_required', 'This address speaks WebSocket only.');
        }
        // A page of another origin could otherwise open a socket with the visitor's cookie.
        if (!headers.origin || !isOwnOrigin(headers.origin, headers, options.appUrl)) {
          throw new Problem(403, 'origin_refused', 'Sockets from that origin are refused.', {
            hint: 'Send an Origin header with the host of this server.',
          });
        }
      },
      handler: async () => null,
      wsHandler: (socket, request) =>
        beginHandshake(socket, cookieToken(request.headers, cookieName(options.appUrl)), {
          database: app.database,
          hub,
          tail,
          authTimeoutMs: timings.authTimeoutMs,
          onFailure: (error) => request.log.error({ err: error }, 'socket sign-in failed'),
        }),
    });

    const timers = [
      setInterval(() => hub.pingAll(), timings.pingMs).unref(),
      setInterval(() => void recheck(hub, app.database, app.log), timings.recheckMs).unref(),
    ];
    app.addHook('onListen', async () => tail.start());
    // Before the server waits for its requests: a stream is one that does not end by itself.
    app.addHook('preClose', async () => hub.stop());
    app.onStop('the push tail', async () => {
      for (const timer of timers) clearInterval(timer);
      await tail.stop();
    });
  },
  {
    name: 'bellwire-sockets',
    fastify: '5.x',
    dependencies: ['bellwire-database', 'bellwire-upgrades', 'bellwire-metrics'],
  },
);

/** Ends the clients of sessions that ended elsewhere: by another process, expiry or an admin. */
async function recheck(
  hub: ConnectionHub,
  database: Database,
  log: FastifyBaseLogger,
): Promise<void> {
  const digests = hub.digests();
  try {
    for (let start = 0; start < digests.length; start += RECHECK_BATCH) {
      const asked = new Set(digests.slice(start, start + RECHECK_BATCH));
      const rows = await database.read<{ digest: string }>(
        'select digest from identity.live_sessions($1) as live(digest)',
        [[...asked]],
      );
      const live = new Set(rows.map((row) => row.digest));
      hub.closeSessions((digest) => asked.has(digest) && !live.has(digest));
    }
  } catch (error) {
    // Not knowing is no reason to close; the next round asks again.
    log.warn({ err: error }, 'could not check the sessions of who is connected');
  }
}
