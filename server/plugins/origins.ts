import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { isAcceptableOrigin } from '../origins.ts';
import { Problem } from '../problem.ts';
import { bearerToken, cookieToken } from '../session-token.ts';

interface Options {
  appUrl: string;
  corsOrigin: string | undefined;
}

const PREFLIGHT_MAX_AGE_SECONDS = 600;
const READING_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
const COOKIE_NAMES = ['__Host-sessionToken', 'sessionToken'];

/** CORS, security headers, and no write by cookie from a page that is not ours. */
export const originsPlugin = fp(
  async (app, options: Options) => {
    const isAcceptable = (request: FastifyRequest) =>
      request.headers.origin !== undefined &&
      isAcceptableOrigin(request.headers.origin, request.headers, options);

    await app.register(helmet, HEADERS);
    await app.register(cors, {
      delegator: (request, callback) =>
        callback(null, {
          origin: isAcceptable(request),
          credentials: true,
          methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
          exposedHeaders: ['x-request-id', 'retry-after'],
          maxAge: PREFLIGHT_MAX_AGE_SECONDS,
          // An OPTIONS that is no preflight is answered without permissions, not with prose.
          strictPreflight: false,
        }),
    });

    app.addHook('onRequest', async (request) => {
      if (!request.url.startsWith('/api/') || isAcceptable(request)) return;
      // Anyone may unsubscribe with the token of the letter; mail programs send what they like.
      if (request.routeOptions.config.role === 'anyone' && request.routeOptions.config.page) return;
      if (request.headers.origin !== undefined || isCookieWrite(request)) {
        throw new Problem(403, 'origin_refused', 'Requests from that origin are refused.', {
          hint: 'Pages of another origin need CORS_ORIGIN; programs send a bearer token.',
        });
      }
    });
  },
  { name: 'bellwire-origins', fastify: '5.x' },
);

/** SameSite=Strict stops nothing between hosts under one domain, so a cookie needs an Origin. */
function isCookieWrite(request: FastifyRequest): boolean {
  return (
    !READING_METHODS.has(request.method) &&
    bearerToken(request.headers) === undefined &&
    COOKIE_NAMES.some((name) => cookieToken(request.headers, name) !== undefined)
  );
}

const HEADERS = {
  contentSecurityPolicy: {
    directives: {
      defaultSrc: ["'self'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:', 'blob:', 'https:'],
      connectSrc: ["'self'", 'ws:', 'wss:'],
      fontSrc: ["'self'", 'data:'],
      objectSrc: ["'none'"],
      frameAncestors: ["'none'"],
      // It would break an install without TLS; TLS is the proxy's job.
      upgradeInsecureRequests: null,
    },
  },
  xFrameOptions: { action: 'deny' as const },
  // With no-referrer a browser sends "Origin: null" from our own forms.
  referrerPolicy: { policy: 'same-origin' as const },
};
