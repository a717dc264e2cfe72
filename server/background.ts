import type { FastifyBaseLogger } from 'fastify';

/** Work beside a request, which never delays its answer. */
export function inBackground(
  log: FastifyBaseLogger,
  what: string,
  work: () => Promise<void>,
): void {
  work().catch((error: unknown) => warnOfBackground(log, what, error));
}

/**
 * Logs a failure by its code alone: a database quotes the row it could not write, and that row may
 * hold an address.
 */
export function warnOfBackground(log: FastifyBaseLogger, what: string, error: unknown): void {
  const { code, name } = error as { code?: string; name?: string };
  log.warn({ code: code ?? name }, `could not ${what}`);
}
