import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

const LOOPBACK = '127.0.0.1';

export interface Received {
  path: string;
  headers: Record<string, string>;
  /** The bytes as they came. */
  body: Buffer;
  status: number;
  /** Why the signature does not hold; undefined when it does. */
  signatureProblem: string | undefined;
  arrivedAt: number;
}

/**
 * A receiver as somebody else would write it: it trusts the `standardwebhooks` package and none of
 * our code. Requests are kept in the order they came, by path.
 */
export class Receiver {
  readonly requests: Received[] = [];
  readonly #server: Server;
  readonly #secrets = new Map<string, Webhook>();
  readonly #stumbles = new Set<string>();

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#receive(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve, reject) => {
      receiver.#server.once('error', reject);
      receiver.#server.listen(0, LOOPBACK, resolve);
    });
    return receiver;
  }

  url(path: string): string {
    return `http://${LOOPBACK}:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  /** What arrives on this path is signed with this secret. */
  trust(path: string, secret: string): void {
    this.#secrets.set(path, new Webhook(secret));
  }

  /** The next request on this path is answered 503. */
  stumbleOnce(path: string): void {
    this.#stumbles.add(path);
  }

  on(path: string): Received[] {
    return this.requests.filter((request) => request.path === path);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const arrivedAt = Date.now();
    const body = Buffer.concat(chunks);
    const path = request.url ?? '/';
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const status = this.#stumbles.delete(path) ? 503 : 204;
    const signatureProblem = this.#problemOf(path, body, headers);
    this.requests.push({ path, headers, body, status, signatureProblem, arrivedAt });
    response.writeHead(status).end();
  }

  #problemOf(path: string, body: Buffer, headers: Record<string, string>): string | undefined {
    const webhook = this.#secrets.get(path);
    if (!webhook) return 'nobody told the secret of this path';
    try {
      webhook.verify(body, headers);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}
