import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { metricsPage } from '../operations/metrics-page.ts';
import type { Readiness } from '../operations/readiness.ts';
import { describeError, type Logger } from './logger.ts';
import type { WorkerMetrics } from './metrics.ts';

export interface ProbeOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** Who may read /metrics; without it nobody. */
  metricsToken?: string;
}

interface Sources {
  readiness: Readiness;
  metrics: WorkerMetrics;
  logger: Logger;
}

const REQUEST_TIMEOUT_MS = 10_000;

/** The worker's only listener: /healthz, /readyz and /metrics, as a server has them. */
export class ProbeListener {
  readonly #server: Server;
  readonly #options: ProbeOptions;
  readonly #sources: Sources;

  constructor(options: ProbeOptions, sources: Sources) {
    this.#options = options;
    this.#sources = sources;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        sources.logger.warn({ error: describeError(error) }, 'a probe could not be answered');
        respond(response, 503, { error: 'unavailable' });
      });
    });
    this.#server.requestTimeout = REQUEST_TIMEOUT_MS;
  }

  /** @throws Error with a sentence that names the port */
  async start(): Promise<string> {
    const { host, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error) => {
        const reason = `Cannot listen on port ${port} of ${host} (WORKER_PORT): ${error.message}.`;
        reject(new Error(reason, { cause: error }));
      });
      this.#server.listen({ host, port }, resolve);
    });
    const { address, port: taken, family } = this.#server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?', 1)[0];
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      respond(response, 405, { error: 'method_not_allowed' });
    } else if (path === '/healthz') {
      respond(response, 200, { ok: true });
    } else if (path === '/readyz') {
      const reason = await this.#sources.readiness.reason();
      respond(response, reason ? 503 : 200, reason ? { ready: false, reason } : { ready: true });
    } else if (path === '/metrics') {
      await this.#metrics(request, response);
    } else {
      respond(response, 404, { error: 'not_found' });
    }
  }

  async #metrics({ headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { metrics } = this.#sources;
    const page = await metricsPage(
      metrics.registry,
      this.#options.metricsToken,
      headers.authorization,
      () => metrics.readBacklog(),
    );
    if (page === undefined) respond(response, 404, { error: 'not_found' });
    else response.writeHead(page.status, page.headers).end(page.body);
  }
}

function respond(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent) return;
  response
    .writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    })
    .end(JSON.stringify(body));
}
