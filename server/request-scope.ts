import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance, FastifyRequest } from 'fastify';

const scope = new AsyncLocalStorage<FastifyRequest>();

/** The request that the running code is for; undefined in what the process does by itself. */
export function currentRequest(): FastifyRequest | undefined {
  return scope.getStore();
}

/** Twice, because the events of a body's stream do not know what they are for. */
export function followRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => scope.run(request, done));
  app.addHook('preValidation', (request, _reply, done) => scope.run(request, done));
}
