import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

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

/** All addresses of a name. Rejects when there are none. */
export type Resolve = (hostname: string) => Promise<string[]>;

type AllowEntry =
  | { kind: 'range'; network: IPAddress; prefixBits: number; port: number | null }
  | { kind: 'name'; hostname: string; port: number | null };
type IPAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** What the operator vouches for although it is not public. */
export type AllowList = readonly AllowEntry[];

interface GuardOptions {
  allow: AllowList;
  resolve: Resolve;
  /** How long a name may take to resolve. */
  resolveTimeoutMs: number;
}

export const RESOLVE_TIMEOUT_MS = 5_000;

const DEFAULT_PORTS: Record<string, number> = { 'http:': 80, 'https:': 443 };
/** Names that never mean a public host, whatever a resolver answers (RFC 6761, 6762, 8375). */
const PRIVATE_NAMES = /(^|\.)(localhost|local|internal|home\.arpa)$/;
/** The one cloud metadata service that hides behind a public address (Azure's wire server). */
const METADATA_ADDRESSES = new Set(['168.63.129.16']);
/** All addresses of the public IPv6 internet; ipaddr.js calls much of the rest unicast too. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Decides about one URL. Never throws. */
export async function checkTarget(text: string, options: GuardOptions): Promise<Verdict> {
  const url = parseTarget(text);
  if ('reason' in url) return { kind: 'refused', reason: url.reason };
  const hostname = hostnameOf(url);
  const port = Number(url.port) || (DEFAULT_PORTS[url.protocol] ?? 0);
  if (isIP(hostname)) {
    const problem = addressProblem(hostname, port, options.allow, false);
    if (problem) return { kind: 'refused', reason: `${hostname} is ${problem}.` };
    return { kind: 'allowed', url, addresses: [hostname] };
  }
  const isNamed = options.allow.some(
    (entry) => entry.kind === 'name' && entry.hostname === hostname && fits(entry.port, port),
  );
  // A private name is fine where the operator allows the very address it means, and only there.
  const isPrivateName = PRIVATE_NAMES.test(hostname);
  if (isPrivateName && options.allow.length === 0) {
    return { kind: 'refused', reason: `${hostname} is a private name.` };
  }
  const answer = await resolveWithin(hostname, options);
  if ('reason' in answer) return { kind: 'unresolved', reason: answer.reason };
  for (const address of isNamed ? [] : answer.addresses) {
    // One private answer among public ones is enough to refuse: which one is used is luck.
    const problem = addressProblem(address, port, options.allow, isPrivateName);
    if (problem) {
      return {
        kind: 'refused',
        reason: `${hostname} resolves to ${address}, which is ${problem}.`,
      };
    }
  }
  return { kind: 'allowed', url, addresses: answer.addresses };
}

function parseTarget(text: string): URL | { reason: string } {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { reason: 'The address is not a valid URL.' };
  }
  if (!(url.protocol in DEFAULT_PORTS)) {
    return { reason: 'Only http and https addresses can be sent to.' };
  }
  if (url.username || url.password) {
    return { reason: 'The address must not contain a user name or a password.' };
  }
  return url;
}

/** Without the brackets of an IPv6 literal and without the dot that ends an absolute name. */
export function hostnameOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

/** What is wrong with an address, as the end of a sentence; null when it may be used. */
function addressProblem(
  text: string,
  port: number,
  allow: AllowList,
  mustBeListed: boolean,
): string | null {
  if (!ipaddr.isValid(text)) return 'not an IP address';
  const address = unwrap(ipaddr.parse(text));
  if (allow.some((entry) => entry.kind === 'range' && contains(entry, address, port))) return null;
  if (mustBeListed) return 'not on the list of allowed private addresses';
  return isPublic(address) ? null : 'not a public address';
}

/** An IPv4 address that is written as an IPv6 one is judged as what it is. */
function unwrap(address: IPAddress): IPAddress {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()
    ? address.toIPv4Address()
    : address;
}

/** NAT64, 6to4, Teredo and every other special range have names of their own in ipaddr.js. */
function isPublic(address: IPAddress): boolean {
  if (METADATA_ADDRESSES.has(address.toString())) return false;
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_IPV6);
}

function contains(
  entry: Extract<AllowEntry, { kind: 'range' }>,
  address: IPAddress,
  port: number,
): boolean {
  if (!fits(entry.port, port)) return false;
  if (address instanceof ipaddr.IPv4) {
    return entry.network instanceof ipaddr.IPv4 && address.match(entry.network, entry.prefixBits);
  }
  return entry.network instanceof ipaddr.IPv6 && address.match(entry.network, entry.prefixBits);
}

function fits(wanted: number | null, port: number): boolean {
  return wanted === null || wanted === port;
}

async function resolveWithin(
  hostname: string,
  options: GuardOptions,
): Promise<{ addresses: string[] } | { reason: string }> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('ETIMEDOUT')), options.resolveTimeoutMs);
  });
  try {
    const addresses = await Promise.race([options.resolve(hostname), timeout]);
    if (addresses.length > 0) return { addresses };
    return { reason: `${hostname} has no address.` };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    return { reason: `${hostname} could not be resolved (${code}).` };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Reads an operator's allow-list: `10.0.0.0/8`, `192.168.1.7`, `[::1]:8080`, `receiver.lan`,
 * `receiver.lan:8443`. Without a port, every port.
 *
 * @throws with a sentence that quotes the entry it cannot read
 */
export function parseAllowList(entries: readonly string[]): AllowList {
  return entries
    .map((entry) => entry.trim())
    .filter(Boolean)
    .map(parseAllowEntry);
}

function parseAllowEntry(text: string): AllowEntry {
  const problem = new Error(
    `"${text}" is neither a network (10.0.0.0/8), an address, a host name nor host:port.`,
  );
  if (text.includes('/')) {
    if (!ipaddr.isValidCIDR(text)) throw problem;
    const [network, prefixBits] = ipaddr.parseCIDR(text);
    return { kind: 'range', network, prefixBits, port: null };
  }
  // A bare IPv6 address has colons of its own, so it is tried before host:port.
  if (isIP(text)) return rangeOfOne(text, null);
  let url: URL;
  try {
    url = new URL(`http://${text}`);
  } catch {
    throw problem;
  }
  if (url.pathname !== '/' || url.search || url.hash || url.username || url.password) throw problem;
  // URL drops the default port, so the port is read from the text.
  const port = /:(\d+)$/.exec(text)?.[1];
  const hostname = hostnameOf(url);
  if (isIP(hostname)) return rangeOfOne(hostname, port ? Number(port) : null);
  return { kind: 'name', hostname, port: port ? Number(port) : null };
}

function rangeOfOne(text: string, port: number | null): AllowEntry {
  const network = unwrap(ipaddr.parse(text));
  return { kind: 'range', network, prefixBits: network instanceof ipaddr.IPv4 ? 32 : 128, port };
}

/**
 * Asks DNS directly first: `lookup` runs on the four threads the whole process shares, and a name
 * server that does not answer would hold them. What DNS does not know may still be in the hosts
 * file or under a search domain, which only `lookup` reads.
 */
export async function resolveHostname(hostname: string): Promise<string[]> {
  if (!/(^|\.)localhost$/.test(hostname)) {
    const resolver = new Resolver({ timeout: 1_500, tries: 2 });
    const answers = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ]);
    const addresses = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value : [],
    );
    if (addresses.length > 0) return addresses;
  }
  const found = await lookup(hostname, { all: true });
  return found.map((entry) => entry.address);
}
