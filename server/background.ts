import type { FastifyBaseLogger } from 'fastify';

/**
 * Work beside a request, which never delays its answer. A failure is logged by its code alone: a
 * database quotes the row it could not write, and that row may hold an address.
 */
export function inBackground(
  log: FastifyBaseLogger,
  what: string,
  work: () => Promise<void>,
): void {
  work().catch((error: unknown) => {
    const { code, name } = error as { code?: string; name?: string };
    log.warn({ code: code ?? name }, `could not ${what}`);
  });
}
