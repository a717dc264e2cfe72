import type { FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { metricsPage } from '../../operations/metrics-page.ts';
import type { PushLook } from '../sockets/connection.ts';
import { sendNotFound } from './errors.ts';

declare module 'fastify' {
  interface FastifyInstance {
    metrics: ServerMetrics;
  }
}

interface Options {
  /** Who may read them; undefined: nobody. */
  token: string | undefined;
}

const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const LAG_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60];
const MS_PER_SECOND = 1_000;
/** One label for every path that no route has: anybody can make up paths. */
const NO_ROUTE = 'none';
const SIGN_IN_ROUTE = 'POST /api/login';

/** What is counted in a server process. Labels hold names of ours only, never what a client sent. */
class ServerMetrics {
  readonly registry = new Registry();
  readonly #requests = new Histogram({
    name: 'bellwire_http_request_seconds',
    help: 'From a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_SECONDS,
    registers: [this.registry],
  });
  readonly #signIns = new Counter({
    name: 'bellwire_sign_ins_total',
    help: 'Attempts to sign in: accepted, refused, limited or failed.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  readonly #limited = new Counter({
    name: 'bellwire_rate_limited_total',
    help: 'Requests refused because there were too many.',
    labelNames: ['route'],
    registers: [this.registry],
  });
  readonly #pushes = new Counter({
    name: 'bellwire_pushes_total',
    help: 'Events handed to people with a socket of this process.',
    labelNames: ['type'],
    registers: [this.registry],
  });
  readonly #pushLag = new Histogram({
    name: 'bellwire_push_lag_seconds',
    help: 'From the start of the transaction that wrote a notification to its push.',
    buckets: LAG_SECONDS,
    registers: [this.registry],
  });

  request({ method, routeOptions }: FastifyRequest, { statusCode, elapsedTime }: FastifyReply) {
    const route = routeOptions.url ?? NO_ROUTE;
    const seconds = elapsedTime / MS_PER_SECOND;
    this.#requests.observe({ method, route, status: statusCode }, seconds);
    if (statusCode === 429) this.#limited.inc({ route });
    if (`${method} ${route}` === SIGN_IN_ROUTE) {
      this.#signIns.inc({ outcome: signInOutcome(statusCode) });
    }
  }

  /** Told what the push tail found for people with a socket. */
  pushes({ events }: PushLook): void {
    for (const { type, notification } of events) {
      this.#pushes.inc({ type });
      // One that was counted up is older than what is pushed.
      if (type !== 'notification' || notification?.coalescedCount !== 0) continue;
      const lag = Date.now() - Date.parse(String(notification.createdAt));
      this.#pushLag.observe(Math.max(lag, 0) / MS_PER_SECOND);
    }
  }

  /** A figure that is read when it is asked for. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** The same for several, by their kind. */
  gaugeByKind(name: string, help: string, read: () => Record<string, number>): void {
    new Gauge({
      name,
      help,
      labelNames: ['kind'],
      registers: [this.registry],
      collect() {
        for (const [kind, count] of Object.entries(read())) this.set({ kind }, count);
      },
    });
  }
}

function signInOutcome(status: number): string {
  if (status === 429) return 'limited';
  if (status >= 500) return 'failed';
  return status < 300 ? 'accepted' : 'refused';
}

/** Counts, and /metrics, which stands where the probes do: in front of CORS, limits and sign-in. */
export const metricsPlugin = fp(
  async (app, { token }: Options) => {
    const metrics = new ServerMetrics();
    app.decorate('metrics', metrics);
    if (token !== undefined) collectDefaultMetrics({ register: metrics.registry });
    metrics.gaugeByKind(
      'bellwire_sockets_open',
      'Sockets, signed in or about to, and event streams.',
      () => ({
        socket: app.websocketServer.clients.size,
        stream: app.sockets.countOfKind('stream'),
      }),
    );
    metrics.gauge('bellwire_database_connections_in_use', 'Taken from the pool.', () => {
      return app.database.pool.inUse;
    });
    metrics.gauge('bellwire_database_connections_waiting', 'Waiting for one of the pool.', () => {
      return app.database.pool.waiting;
    });
    app.addHook('onResponse', async (request, reply) => metrics.request(request, reply));

    await app.register(async (scope) => {
      scope.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
        const page = await metricsPage(metrics.registry, token, request.headers.authorization);
        if (page === undefined) return sendNotFound(request, reply);
        reply.code(page.status).headers(page.headers).serializer(String);
        return page.body;
      });
    });
  },
  {
    name: 'bellwire-metrics',
    fastify: '5.x',
    dependencies: ['bellwire-database', 'bellwire-upgrades'],
  },
);
