import { type Address, metadataRange, parseAddress, specialRange } from './addresses.ts';
import {
  type AllowList,
  allowsAddress,
  allowsExactly,
  allowsName,
  entriesForPort,
} from './allow-list.ts';
import { hostnameOf, isPrivateName, nameProblem } from './hostnames.ts';
import { includesPort, type Ports } from './ports.ts';
import type { Resolve } from './resolve.ts';

/**
 * May this URL be sent to? Decided anew at every send, because a name that pointed to a public
 * address yesterday may point into the operator's network today. The addresses returned are the
 * only ones the send may connect to.
 */
export type Verdict =
  | { kind: 'allowed'; url: URL; addresses: string[] }
  /** Will not be sent to until somebody changes something. */
  | { kind: 'refused'; reason: string }
  /** The name has no answer at the moment; worth trying again later. */
  | { kind: 'unresolved'; reason: string };

export interface GuardOptions {
  /** The ports requests may go to. */
  ports: Ports;
  allow: AllowList;
  resolve: Resolve;
  /** How long a name may take to resolve. */
  resolveTimeoutMs: number;
}

/** What is to be decided, taken apart. */
interface Target {
  url: URL;
  hostname: string;
  port: number;
  /** The entries that count: where the port is not allowed, only those that name it. */
  allow: AllowList;
  /** Only an address that the operator listed will do. */
  mustBeListed: boolean;
}

const PROTOCOL_PORTS: Record<string, number> = { 'http:': 80, 'https:': 443 };
/** All of an answer is judged, but nobody tries more than a few addresses. */
const MAX_ADDRESSES = 16;

/** Decides about one URL. Never throws. */
export async function checkTarget(text: string, options: GuardOptions): Promise<Verdict> {
  const url = parseTarget(text);
  if ('reason' in url) return refused(url.reason);
  const hostname = hostnameOf(url);
  const port = url.port === '' ? (PROTOCOL_PORTS[url.protocol] ?? 0) : Number(url.port);
  const isPortAllowed = includesPort(options.ports, port);
  const allow = isPortAllowed ? options.allow : entriesForPort(options.allow, port);
  if (!isPortAllowed && allow.length === 0) return refused(`Port ${port} is not allowed.`);
  const target = { url, hostname, port, allow, mustBeListed: !isPortAllowed };
  const literal = parseAddress(hostname);
  if (!literal) return checkName(target, options);
  const problem = addressProblem(literal, target);
  return problem ? refused(`${hostname} is ${problem}.`) : allowed(url, [literal]);
}

async function checkName(target: Target, options: GuardOptions): Promise<Verdict> {
  const { url, hostname, port, allow } = target;
  const malformed = nameProblem(hostname);
  if (malformed) return refused(malformed);
  const isVouchedFor = allowsName(allow, hostname, port);
  // A private name is fine where the operator allows the very address it means, and only there.
  const isPrivate = isPrivateName(hostname);
  if (isPrivate && allow.length === 0) return refused(`${hostname} is a private name.`);
  const answer = await resolveWithin(hostname, options);
  if ('reason' in answer) return { kind: 'unresolved', reason: answer.reason };
  const judged = { ...target, mustBeListed: target.mustBeListed || isPrivate };
  const addresses: Address[] = [];
  for (const text of answer.addresses) {
    const address = parseAddress(text);
    if (!address) return refused(`${hostname} resolves to something that is not an IP address.`);
    // One private answer among public ones is enough to refuse: which one is used is luck.
    const problem = isVouchedFor
      ? metadataProblem(address, judged)
      : addressProblem(address, judged);
    if (problem) return refused(`${hostname} resolves to ${address}, which is ${problem}.`);
    addresses.push(address);
  }
  return allowed(url, addresses);
}

function refused(reason: string): Verdict {
  return { kind: 'refused', reason };
}

function allowed(url: URL, found: Address[]): Verdict {
  // As the address is written, not as an answer wrote it: what connects must not look it up again.
  const addresses = [...new Set(found.map(String))].slice(0, MAX_ADDRESSES);
  return { kind: 'allowed', url, addresses };
}

function parseTarget(text: string): URL | { reason: string } {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { reason: 'The address is not a valid URL.' };
  }
  if (!(url.protocol in PROTOCOL_PORTS)) {
    return { reason: 'Only http and https addresses can be sent to.' };
  }
  if (url.username || url.password) {
    return { reason: 'The address must not contain a user name or a password.' };
  }
  return url;
}

/** What is wrong with an address, as the end of a sentence; null when it may be used. */
function addressProblem(address: Address, target: Target): string | null {
  const { allow, port, mustBeListed } = target;
  const metadata = metadataProblem(address, target);
  if (metadata) return metadata;
  if (allowsAddress(allow, address, port)) return null;
  if (mustBeListed) return 'not on the list of allowed addresses';
  const range = specialRange(address);
  return range ? `not a public address: ${range}` : null;
}

/** The same for what no range and no name may open, only the address itself. */
function metadataProblem(address: Address, { allow, port }: Target): string | null {
  const range = metadataRange(address);
  if (!range || allowsExactly(allow, address, port)) return null;
  return `not a public address: ${range}`;
}

async function resolveWithin(
  hostname: string,
  options: GuardOptions,
): Promise<{ addresses: string[] } | { reason: string }> {
  const budget = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('ETIMEDOUT')), options.resolveTimeoutMs);
  });
  try {
    const addresses = await Promise.race([options.resolve(hostname, budget.signal), timeout]);
    if (addresses.length > 0) return { addresses };
    return { reason: `${hostname} has no address.` };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    return { reason: `${hostname} could not be resolved (${code}).` };
  } finally {
    clearTimeout(timer);
    budget.abort();
  }
}
