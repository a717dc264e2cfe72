import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
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

/** Looks a token up. The database decides whether its session lives and its person is active. */
export async function findSession(database: Database, token: string): Promise<Session | null> {
  const digest = digestOf(token);
  const [row] = await database.read<SignedInUser & { userId: number; expiresAt: string }>(
    'select user_id, name, email, avatar_url, is_admin, expires_at from identity.authenticate($1)',
    [digest],
  );
  if (row === undefined) return null;
  const { userId, name, email, avatarUrl, isAdmin, expiresAt } = row;
  return { digest, user: { id: userId, name, email, avatarUrl, isAdmin }, expiresAt };
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
      if (request.session === null) throw signInRequired();
    });
  },
  { name: 'bellwire-authentication', fastify: '5.x', dependencies: ['bellwire-database'] },
);
