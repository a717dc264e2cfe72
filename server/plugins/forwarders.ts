import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { clientNetwork } from '../client-network.ts';

/** Peers that are named; a flood from changing addresses grows neither memory nor the log. */
const MOST_PEERS = 32;
/** One host holds a whole /64. */
const PEER_IPV6_BITS = 64;

/**
 * One warning per peer that sends X-Forwarded-For and is not in TRUST_PROXY. A proxy that the list
 * leaves out fails silently otherwise: every request succeeds, and all clients behind it share one
 * limit. Nothing is refused. Comes first of all, so that it sees every request.
 */
export const forwardersPlugin = fp(
  async (app) => {
    const forwarders = new UntrustedForwarders(app.log);
    app.addHook('onRequest', async (request) => {
      if (isUntrustedForward(request)) forwarders.notice(request.socket.remoteAddress ?? '');
    });
  },
  { name: 'bellwire-forwarders', fastify: '5.x' },
);

/** `ips` goes beyond the peer itself exactly where the peer is trusted. */
function isUntrustedForward(request: FastifyRequest): boolean {
  const header = String(request.headers['x-forwarded-for'] ?? '');
  return /[^\s,]/.test(header) && (request.ips?.length ?? 1) === 1;
}

export class UntrustedForwarders {
  readonly #log: Pick<FastifyBaseLogger, 'warn'>;
  readonly #named = new Set<string>();

  constructor(log: Pick<FastifyBaseLogger, 'warn'>) {
    this.#log = log;
  }

  notice(address: string): void {
    if (this.#named.size >= MOST_PEERS) return;
    const peer = clientNetwork(address, PEER_IPV6_BITS);
    if (this.#named.has(peer)) return;
    this.#named.add(peer);
    this.#log.warn(
      `${peer} sent X-Forwarded-For, but TRUST_PROXY does not name it: the header is ignored. ` +
        'If it is a proxy of yours, all clients behind it share one rate limit until it is named.',
    );
    if (this.#named.size === MOST_PEERS) {
      this.#log.warn(`That was peer ${MOST_PEERS} of this kind; no more of them are named.`);
    }
  }
}
