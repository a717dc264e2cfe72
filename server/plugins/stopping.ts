import fp from 'fastify-plugin';

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Registers a step of the stop. Steps run once the last request is answered, the last registered
     * first, each of them whatever became of the others.
     */
    onStop(name: string, step: () => void | Promise<void>): void;
    /** The steps of the stop that failed, a sentence each. */
    stopFailures: string[];
  }
}

/** Stopping in steps that do not depend on one another. */
export const stoppingPlugin = fp(
  async (app) => {
    const failures: string[] = [];
    app.decorate('stopFailures', failures);
    app.decorate('onStop', (name: string, step: () => void | Promise<void>) => {
      app.addHook('onClose', async () => {
        try {
          await step();
        } catch (error) {
          app.log.error({ err: error, step: name }, 'a step of the stop failed');
          failures.push(`${name}: ${error instanceof Error ? error.message : error}`);
        }
      });
    });
  },
  { name: 'bellwire-stopping', fastify: '5.x' },
);
