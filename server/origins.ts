import type { IncomingHttpHeaders } from 'node:http';

interface OriginRules {
  appUrl: string;
  corsOrigin: string | undefined;
  isProduction: boolean;
}

const THIS_MACHINE = new Set(['localhost', '127.0.0.1']);

/**
 * Whether pages of `origin` may talk to this server: the host the request was sent to, the host of
 * APP_URL (a proxy often sends its own name as Host), exactly CORS_ORIGIN, and outside production
 * any port of this machine, where a development server has the pages.
 */
export function isAcceptableOrigin(
  origin: string,
  headers: IncomingHttpHeaders,
  rules: OriginRules,
): boolean {
  return (
    origin === rules.corsOrigin ||
    isOwnOrigin(origin, headers, rules.appUrl) ||
    (!rules.isProduction && THIS_MACHINE.has(parse(origin)?.hostname ?? ''))
  );
}

/**
 * The first two of these, which is all that sockets allow. Schemes are not compared: behind a proxy
 * that ends TLS the browser says https where this server sees http. The Host header itself is read,
 * in the form a browser gives an origin, and never X-Forwarded-Host, which a client can set.
 */
export function isOwnOrigin(origin: string, headers: IncomingHttpHeaders, appUrl: string): boolean {
  const asked = parse(origin);
  if (asked === undefined) return false;
  return (
    asked.host === parse(`${asked.protocol}//${headers.host ?? ''}`)?.host ||
    asked.host === parse(appUrl)?.host
  );
}

function parse(text: string): URL | undefined {
  try {
    const url = new URL(text);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
  } catch {
    return undefined;
  }
}
