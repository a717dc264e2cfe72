import ipaddr from 'ipaddr.js';
import { type Address, isInside, parseAddress } from './addresses.ts';
import { hostnameOf } from './hostnames.ts';

type AllowEntry =
  | { kind: 'range'; network: Address; prefixBits: number; port: number | null }
  | { kind: 'name'; hostname: string; port: number | null };

/** How much of an IPv6 address comes before the IPv4 address that is written in it. */
const MAPPED_BITS = 96;

/** What the operator vouches for although it is not public. */
export type AllowList = readonly AllowEntry[];

/**
 * Reads an operator's allow-list: `10.0.0.0/8`, `192.168.1.7`, `[::1]:8080`, `receiver.lan`,
 * `receiver.lan:25`. Without a port, every port that requests may go to; with one, that port even
 * where they may not.
 *
 * @throws with a sentence that quotes the entry it cannot read
 */
export function parseAllowList(entries: readonly string[]): AllowList {
  return entries
    .map((entry) => entry.trim())
    .filter(Boolean)
    .map(parseEntry);
}

/** Is the name itself vouched for, whatever it resolves to? */
export function allowsName(allow: AllowList, hostname: string, port: number): boolean {
  return allow.some(
    (entry) => entry.kind === 'name' && entry.hostname === hostname && fits(entry.port, port),
  );
}

export function allowsAddress(allow: AllowList, address: Address, port: number): boolean {
  return allow.some(
    (entry) =>
      entry.kind === 'range' &&
      fits(entry.port, port) &&
      isInside(address, entry.network, entry.prefixBits),
  );
}

/** Is the address there by itself, not as one of a range? */
export function allowsExactly(allow: AllowList, address: Address, port: number): boolean {
  return allowsAddress(allow.filter(isOne), address, port);
}

/** The entries that say this very port. */
export function entriesForPort(allow: AllowList, port: number): AllowList {
  return allow.filter((entry) => entry.port === port);
}

function isOne(entry: AllowEntry): boolean {
  if (entry.kind === 'name') return false;
  return entry.prefixBits === (entry.network instanceof ipaddr.IPv4 ? 32 : 128);
}

function fits(wanted: number | null, port: number): boolean {
  return wanted === null || wanted === port;
}

function parseEntry(text: string): AllowEntry {
  const problem = new Error(
    `"${text}" is neither a network (10.0.0.0/8), an address, a host name nor host:port.`,
  );
  if (text.includes('/')) {
    const range = parseRange(text);
    if (!range) throw problem;
    return range;
  }
  // A bare IPv6 address has colons of its own, so it is tried before host:port.
  const bare = parseAddress(text);
  if (bare) return rangeOfOne(bare, null);
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
  const address = parseAddress(hostname);
  if (address) return rangeOfOne(address, port ? Number(port) : null);
  return { kind: 'name', hostname, port: port ? Number(port) : null };
}

function parseRange(text: string): AllowEntry | null {
  const [start = '', bits = ''] = text.split('/');
  // ipaddr.js would read 010.0.0.0/8 as 8.0.0.0/8.
  const network = parseAddress(start);
  if (!network || !/^\d{1,3}$/.test(bits) || !ipaddr.isValidCIDR(text)) return null;
  const isMapped = network instanceof ipaddr.IPv4 && start.includes(':');
  const prefixBits = isMapped ? Number(bits) - MAPPED_BITS : Number(bits);
  return prefixBits < 0 ? null : { kind: 'range', network, prefixBits, port: null };
}

function rangeOfOne(network: Address, port: number | null): AllowEntry {
  return { kind: 'range', network, prefixBits: network instanceof ipaddr.IPv4 ? 32 : 128, port };
}
