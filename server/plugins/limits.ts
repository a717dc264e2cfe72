import type { FastifyReply } from 'fastify';
import fp from 'fastify-plugin';
import { clientNetwork } from '../client-network.ts';
import { Problem } from '../problem.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The bucket that each request takes an attempt from; `credentials` when left out. */
    rateLimit?: { bucket?: Bucket };
  }
}

type Bucket = 'credentials' | 'people';

interface Options {
  /** Attempts at credentials from one address in the window. */
  signInLimit: number;
}

interface Attempt {
  isAllowed: boolean;
  remaining: number;
  retryAfterSeconds: number;
}

const WINDOW_SECONDS = 15 * 60;
/** Enough to type names, too few to list who is there. */
const PEOPLE_LIMIT = 60;
/** What one customer of a provider is given. */
const CLIENT_IPV6_BITS = 56;

/**
 * Routes ask for it with `config.rateLimit`. Each request of them counts, whatever becomes of it,
 * and before its token is looked up. All routes of a bucket share it, and all servers: the counts
 * are in the database.
 *
 * The key is the client's address, `request.ip`: the last entry of X-Forwarded-For that a trusted
 * proxy wrote, or whoever is at the other end of the connection. A client chooses neither.
 */
export const limitsPlugin = fp(
  async (app, options: Options) => {
    const most: Record<Bucket, number> = {
      credentials: options.signInLimit,
      people: PEOPLE_LIMIT,
    };

    app.addHook('onRequest', async (request, reply) => {
      const { rateLimit } = request.routeOptions.config;
      if (rateLimit === undefined) return;
      const bucket = rateLimit.bucket ?? 'credentials';
      // As a reading statement, because it may be begun again: an attempt counted twice does no harm.
      const [attempt] = await app.database.read<Attempt>(
        'select is_allowed, remaining, retry_after_seconds from identity.take_attempt($1, $2, $3, $4)',
        [bucket, clientNetwork(request.ip, CLIENT_IPV6_BITS), most[bucket], WINDOW_SECONDS],
      );
      if (attempt === undefined) throw new Error('take_attempt() gave no row.');
      describe(reply, most[bucket], attempt);
      if (attempt.isAllowed) return;
      throw new Problem(
        429,
        'too_many_requests',
        'Too many attempts from this address. Wait a while.',
        { retryAfterSeconds: attempt.retryAfterSeconds },
      );
    });
  },
  { name: 'bellwire-limits', fastify: '5.x', dependencies: ['bellwire-database'] },
);

function describe(reply: FastifyReply, limit: number, attempt: Attempt): void {
  reply.header('x-ratelimit-limit', limit);
  reply.header('x-ratelimit-remaining', attempt.remaining);
  reply.header('x-ratelimit-reset', attempt.retryAfterSeconds);
}
