import { createHash, timingSafeEqual } from 'node:crypto';
import type { Registry } from 'prom-client';

/**
 * /metrics names routes and receivers and counts sign-ins, so it is not for everybody who can reach
 * the port. A token rather than a port of its own: it holds wherever the process is reached from,
 * whatever a proxy passes on, and Prometheus sends one (`authorization.credentials`). Without
 * METRICS_TOKEN there is no such page.
 */
interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const TEXT = 'text/plain; charset=utf-8';

/**
 * The page, or why not; undefined: there is none here. `prepare` brings figures up to date, and only
 * for somebody who may see them.
 */
export async function metricsPage(
  registry: Registry,
  token: string | undefined,
  authorization: string | undefined,
  prepare?: () => Promise<void>,
): Promise<Answer | undefined> {
  if (token === undefined) return undefined;
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  const common = { 'cache-control': 'no-store' };
  if (given === undefined || !isSame(given, token)) {
    return {
      status: 401,
      headers: { ...common, 'content-type': TEXT, 'www-authenticate': 'Bearer' },
      body: 'Send "Authorization: Bearer <METRICS_TOKEN>".\n',
    };
  }
  await prepare?.();
  return {
    status: 200,
    headers: { ...common, 'content-type': registry.contentType },
    body: await registry.metrics(),
  };
}

/** Takes the same time wherever they differ. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
