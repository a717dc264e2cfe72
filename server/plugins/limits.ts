import rateLimit from '@fastify/rate-limit';
import fp from 'fastify-plugin';
import { Problem } from '../problem.ts';

interface Options {
  /** Sign-in attempts from one address in the window. */
  signInLimit: number;
}

const WINDOW_MS = 15 * 60 * 1000;
const MS_PER_SECOND = 1000;
/** So many addresses are remembered; the oldest is forgotten first. */
const MOST_ADDRESSES = 10_000;

/** Routes ask for it with `config.rateLimit = {}`; all of them share one bucket per address. */
export const limitsPlugin = fp(
  async (app, options: Options) => {
    await app.register(rateLimit, {
      global: false,
      max: options.signInLimit,
      timeWindow: WINDOW_MS,
      cache: MOST_ADDRESSES,
      errorResponseBuilder: (_request, context) =>
        new Problem(
          429,
          'too_many_requests',
          'Too many attempts from this address. Wait a while.',
          {
            retryAfterSeconds: Math.ceil(context.ttl / MS_PER_SECOND),
          },
        ),
    });
  },
  { name: 'bellwire-limits', fastify: '5.x' },
);
