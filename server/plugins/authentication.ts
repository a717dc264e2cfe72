import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { inBackground } from '../background.ts';
import type { Database } from '../database.ts';
import type { Session, SignedInUser } from '../identity.ts';
import { signInRequired } from '../problem.ts';
import { bearerToken, cookieName, cookieToken, digestOf } from '../session-token.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the request's token was found good; null for everybody else. */
    session: Session | null;
  }
  interface FastifyContextConfig {
    /** Who may call the route: somebody signed in, or anyone. */
    role?: 'user' | 'anyone';
  }
}

interface Options {
  appUrl: string;
}

type Found = SignedInUser & { userId: number; expiresAt: string; isStale: boolean };

/** Looks a token up. The database decides whether its session lives and its person is active. */
export async function findSession(database: Database, token: string): Promise<Session | null> {
  const digest = digestOf(token);
  const [row] = await database.read<Found>('select * from identity.authenticate($1)', [digest]);
  if (row === undefined) return null;
  const { userId, name, email, avatarUrl, isAdmin, expiresAt, isStale } = row;
  return { digest, user: { id: userId, name, email, avatarUrl, isAdmin }, expiresAt, isStale };
}

/** The session of a request whose route is for people who are signed in. */
export function sessionOf(request: FastifyRequest): Session {
  if (request.session === null) throw signInRequired();
  return request.session;
}

/** Which token a request carries: the bearer if there is one, else the cookie. */
export function requestToken(request: FastifyRequest, appUrl: string): string | undefined {
  return bearerToken(request.headers) ?? cookieToken(request.headers, cookieName(appUrl));
}

/** Holds every route under /api to its declared role, before its body is read. */
export const authenticationPlugin = fp(
  async (app, options: Options) => {
    app.decorateRequest('session', null);

    app.addHook('onRoute', (route) => {
      // A route that forgot to say who may call it must not start at all.
      if (route.url.startsWith('/api/') && route.config?.role === undefined) {
        throw new Error(`${route.url} declares no role.`);
      }
    });

    app.addHook('onRequest', async (request) => {
      if (request.routeOptions.config.role !== 'user') return;
      const token = requestToken(request, options.appUrl);
      if (token === undefined) throw signInRequired();
      request.session = await findSession(app.database, token);
      const { digest, isStale } = sessionOf(request);
      if (!isStale) return;
      inBackground(app.log, 'note that a session is in use', async () => {
        await app.database.write('select identity.touch_session($1)', [digest]);
      });
    });
  },
  { name: 'bellwire-authentication', fastify: '5.x', dependencies: ['bellwire-database'] },
);
