import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { Parameter } from '../database.ts';
import { Database } from '../database.ts';
import { ANONYMOUS } from '../identity.ts';
import { notFound } from '../problem.ts';
import { currentRequest, followRequests } from '../request-scope.ts';

declare module 'fastify' {
  interface FastifyInstance {
    database: Database;
  }
  interface FastifyRequest {
    /** One statement under the rules, as whoever sent the request. */
    rows<Row>(sql: string, parameters?: readonly Parameter[]): Promise<Row[]>;
    /** The same where one row is expected; none is a 404. */
    row<Row>(sql: string, parameters?: readonly Parameter[]): Promise<Row>;
  }
}

interface Options {
  databaseUrl: string;
  poolSize: number;
  slowQueryMs: number;
}

/** The pool, and `request.rows` / `request.row`, the only way a route reaches SQL. */
export const databasePlugin = fp(
  async (app, options: Options) => {
    const database = new Database({
      ...options,
      onIdleError: (error) => app.log.warn({ err: error }, 'lost a database connection'),
      onSlow: (statement, ms) => {
        const request = currentRequest();
        const route = request?.routeOptions.url;
        (request?.log ?? app.log).warn({ statement, route, ms }, 'slow query');
      },
    });
    app.decorate('database', database);
    followRequests(app);

    app.decorateRequest('rows', function rows<
      Row,
    >(this: FastifyRequest, sql: string, parameters: readonly Parameter[] = []) {
      const { session } = this;
      const identity = session
        ? ({ role: 'authenticated', userId: session.user.id } as const)
        : ANONYMOUS;
      return database.callAs<Row>(identity, sql, parameters);
    });

    app.decorateRequest('row', async function row<
      Row,
    >(this: FastifyRequest, sql: string, parameters: readonly Parameter[] = []) {
      const [first] = await this.rows<Row>(sql, parameters);
      if (first === undefined) throw notFound();
      return first;
    });

    app.onStop('the database connections', () => database.close());
  },
  { name: 'bellwire-database', fastify: '5.x', dependencies: ['bellwire-stopping'] },
);
