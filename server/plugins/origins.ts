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
  isProduction: boolean;
}

const PREFLIGHT_MAX_AGE_SECONDS = 600;
const READING_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
const EXPOSED_HEADERS = [
  'x-request-id',
  'retry-after',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
];
/** Either makes a request one of a browser, whichever of them this server reads. */
const COOKIE_NAMES = ['__Host-sessionToken', 'sessionToken'];

/**
 * CORS, security headers, and no write by cookie from a page that is not ours. A refusal comes
 * before anything of the route: before its attempt is counted, its token looked up, its body read.
 */
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
          exposedHeaders: EXPOSED_HEADERS,
          maxAge: PREFLIGHT_MAX_AGE_SECONDS,
          // An OPTIONS that is no preflight is answered without permissions, not with prose.
          strictPreflight: false,
        }),
    });

    app.addHook('onRequest', async (request) => {
      if (isAcceptable(request) || takesAnyOrigin(request)) return;
      const { origin } = request.headers;
      if ((origin !== undefined && isOfApi(request)) || isCookieWrite(request)) {
        throw new Problem(403, 'origin_refused', 'Requests from that origin are refused.', {
          hint: 'Pages of another origin need CORS_ORIGIN; programs send a bearer token.',
        });
      }
    });
  },
  { name: 'bellwire-origins', fastify: '5.x' },
);

/** By the route that was found: the address itself may be written in many ways, /%61pi among them. */
function isOfApi(request: FastifyRequest): boolean {
  return (request.routeOptions.url ?? request.url).startsWith('/api/');
}

/** Anyone may unsubscribe with the token of the letter; mail programs send what they like. */
function takesAnyOrigin({ routeOptions: { config } }: FastifyRequest): boolean {
  return config.role === 'anyone' && config.page === true;
}

/** SameSite=Strict stops nothing between hosts under one domain, so a cookie needs an Origin. */
function isCookieWrite(request: FastifyRequest): boolean {
  return (
    !READING_METHODS.has(request.method) &&
    bearerToken(request.headers) === undefined &&
    COOKIE_NAMES.some((name) => cookieToken(request.headers, name) !== undefined)
  );
}

/**
 * One policy for everything but the probes, in production and out of it: no page of this server
 * needs less while it is developed. What is not named is as Helmet has it: base-uri and form-action
 * 'self', script-src-attr 'none', nosniff, HSTS.
 */
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
  // A page may open a window of another origin and hear from it, as sign-in and editors need.
  crossOriginOpenerPolicy: { policy: 'same-origin-allow-popups' as const },
  xFrameOptions: { action: 'deny' as const },
  // With no-referrer a browser sends "Origin: null" from our own forms.
  referrerPolicy: { policy: 'same-origin' as const },
};
