import { ConfigurationError, readEnvironment } from '../config/read.ts';
import { parseAllowList } from '../outgoing/allow-list.ts';
import { checkTarget, type GuardOptions, type Verdict } from '../outgoing/guard.ts';
import { parsePorts } from '../outgoing/ports.ts';
import { RESOLVE_TIMEOUT_MS, resolveHostname } from '../outgoing/resolve.ts';

const NOT_ALLOWED_CODE = 1;
const USAGE_ERROR_CODE = 2;

interface CheckUrlOptions {
  /** What every name resolves to; none: DNS is asked. */
  answers?: string;
  /** In place of WEBHOOK_ALLOW. */
  allow?: string;
  /** In place of WEBHOOK_PORTS. */
  ports?: string;
  json: boolean;
}

/** Says what the worker's guard would decide about each URL. Returns the exit code. */
export async function runCheckUrl(urls: string[], options: CheckUrlOptions): Promise<number> {
  let guard: GuardOptions;
  try {
    guard = readGuard(options);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    for (const line of error.lines) console.error(line);
    return USAGE_ERROR_CODE;
  }
  const verdicts = await Promise.all(
    urls.map(async (url) => ({ url, verdict: await checkTarget(url, guard) })),
  );
  for (const { url, verdict } of verdicts) {
    console.log(options.json ? JSON.stringify(plain(url, verdict)) : line(url, verdict));
  }
  return verdicts.every(({ verdict }) => verdict.kind === 'allowed') ? 0 : NOT_ALLOWED_CODE;
}

/** Only the guard's two variables count: another bad one must not keep anybody from asking. */
function readGuard(options: CheckUrlOptions): GuardOptions {
  const { WEBHOOK_ALLOW = [], WEBHOOK_PORTS } = readEnvironment({
    WEBHOOK_ALLOW: options.allow ?? process.env.WEBHOOK_ALLOW,
    WEBHOOK_PORTS: options.ports ?? process.env.WEBHOOK_PORTS,
  });
  const answers = options.answers?.split(',').map((answer) => answer.trim());
  return {
    allow: parseAllowList(WEBHOOK_ALLOW),
    ports: parsePorts(WEBHOOK_PORTS),
    resolve: answers ? async () => answers.filter(Boolean) : resolveHostname,
    resolveTimeoutMs: RESOLVE_TIMEOUT_MS,
  };
}

function plain(url: string, verdict: Verdict) {
  if (verdict.kind === 'allowed') {
    return { url, verdict: verdict.kind, addresses: verdict.addresses };
  }
  return { url, verdict: verdict.kind, reason: verdict.reason };
}

function line(url: string, verdict: Verdict): string {
  const outcome =
    verdict.kind === 'allowed'
      ? `connects to ${verdict.addresses.join(', ')}`
      : `${verdict.reason}${verdict.kind === 'unresolved' ? ' A send would be tried again.' : ''}`;
  return `${verdict.kind.padEnd('unresolved'.length)}  ${visible(url)}  ${outcome}`;
}

/** A URL may come from somebody else: what it holds must not move the cursor of whoever checks it. */
function visible(url: string): string {
  return JSON.stringify(url).slice(1, -1);
}
