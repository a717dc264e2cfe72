import { lookup, Resolver } from 'node:dns/promises';

/**
 * All addresses of a name. Rejects when there are none. Gives up, or may go on in vain, once the
 * signal says that nobody waits any more.
 */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<string[]>;

/** How long a name may take to resolve. */
export const RESOLVE_TIMEOUT_MS = 5_000;

const SERVER_TIMEOUT_MS = 1_500;
const SERVER_TRIES = 2;
/** What the slower family may take once the other has answered: some name servers never do. */
const OTHER_FAMILY_MS = 500;
/** What a name server says of a name it does not know, or that there is no name server to ask. */
const NOT_IN_DNS = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);
/** `lookup` runs on the four threads that the whole process shares: most of them stay free. */
const MAX_LOOKUPS = 1;

/**
 * Asks DNS directly first, which holds no thread. What DNS does not know may still be in the hosts
 * file or under a search domain, which only `lookup` reads. A name server that does not answer
 * would not answer `lookup` either, so then it is not asked.
 *
 * @param servers name servers to ask instead of the machine's own, as `127.0.0.1:53`
 */
export async function resolveHostname(
  hostname: string,
  signal: AbortSignal,
  servers?: string[],
): Promise<string[]> {
  if (/(^|\.)localhost$/.test(hostname)) return lookUp(hostname, signal);
  try {
    return await askDns(hostname, signal, servers);
  } catch (error) {
    if (!NOT_IN_DNS.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return lookUp(hostname, signal);
  }
}

async function askDns(
  hostname: string,
  signal: AbortSignal,
  servers: string[] | undefined,
): Promise<string[]> {
  const resolver = new Resolver({ timeout: SERVER_TIMEOUT_MS, tries: SERVER_TRIES });
  if (servers) resolver.setServers(servers);
  let timer: NodeJS.Timeout | undefined;
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  const startTimer = (found: string[]) => {
    if (found.length > 0) timer ??= setTimeout(cancel, OTHER_FAMILY_MS);
    return found;
  };
  try {
    const answers = await Promise.allSettled([
      resolver.resolve4(hostname).then(startTimer),
      resolver.resolve6(hostname).then(startTimer),
    ]);
    const found = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    if (found.length > 0) return found;
    throw worstProblem(answers);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}

/** That one family does not exist says nothing while the other is not known. */
function worstProblem(answers: PromiseSettledResult<string[]>[]): Error {
  const problems = answers.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  const isUnknown = (problem: NodeJS.ErrnoException) => !NOT_IN_DNS.has(problem.code ?? '');
  const none = Object.assign(new Error('no address'), { code: 'ENODATA' });
  return problems.find(isUnknown) ?? problems[0] ?? none;
}

let lookups = 0;
const waiting: (() => void)[] = [];

/** One at a time; whoever's time is over before his turn comes takes no thread. */
async function lookUp(hostname: string, signal: AbortSignal): Promise<string[]> {
  if (lookups >= MAX_LOOKUPS) await new Promise<void>((resolve) => waiting.push(resolve));
  else lookups += 1;
  try {
    signal.throwIfAborted();
    const found = await lookup(hostname, { all: true });
    return found.map((entry) => entry.address);
  } finally {
    // The place is handed on, or given back when nobody waits for it.
    const next = waiting.shift();
    if (next) next();
    else lookups -= 1;
  }
}
