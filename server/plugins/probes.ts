import fp from 'fastify-plugin';
import { KNOWN_MIGRATIONS, Readiness } from '../../operations/readiness.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readiness: Readiness;
  }
}

/**
 * /healthz and /readyz, in a scope of their own: the hooks of the other routes (CORS, headers,
 * limits, sign-in) do not stand between a supervisor and its answer.
 */
export const probesPlugin = fp(
  async (app) => {
    const readiness = new Readiness(async () => {
      const [row] = await app.database.read<{ isMigrated: boolean }>(
        'select is_migrated from bellwire.readiness($1)',
        [KNOWN_MIGRATIONS],
      );
      return row?.isMigrated === true;
    });
    app.decorate('readiness', readiness);

    await app.register(async (scope) => {
      scope.get('/healthz', async (_request, reply) => {
        reply.header('cache-control', 'no-store');
        return { ok: true };
      });
      scope.get('/readyz', async (_request, reply) => {
        const reason = await readiness.reason();
        reply.code(reason ? 503 : 200).header('cache-control', 'no-store');
        return reason ? { ready: false, reason } : { ready: true };
      });
    });
  },
  { name: 'bellwire-probes', fastify: '5.x', dependencies: ['bellwire-database'] },
);
