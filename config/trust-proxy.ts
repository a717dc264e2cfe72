import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Whose X-Forwarded-For is believed. The address of a request is what limits are counted by, so who
 * is trusted wrongly chooses the address they are limited by.
 */

/** false: nobody. true and a number (of hops) only where the operator insists. */
export type TrustedProxies = boolean | number | readonly string[];

/** A sentence without its subject, or the value. */
type Verdict = { refusal: string } | { proxies: TrustedProxies };

/** The groups the framework knows by name; private addresses, all of them narrow enough. */
const NAMED_RANGES = new Set(['loopback', 'linklocal', 'uniquelocal']);

/** Any client inside a trusted range may name its own address: a wide one is a mistake. */
const WIDEST_IPV4_BITS = 8;
const WIDEST_IPV6_BITS = 16;
/** Private by definition, so that more of them may be one network. */
const PRIVATE_IPV6 = ['fc00::/7', 'fe80::/10'] as const;

/** An IPv4 client is matched against a range of these as well. */
const MAPPED_IPV4 = ipaddr.IPv6.parse('::ffff:0:0');
const MAPPED_IPV4_BITS = 96;

const OPT_IN = 'TRUST_PROXY_ALLOW_HOP_COUNT=true';
const BY_ADDRESS = 'name each proxy by its address, or set it to false';

/** Reads TRUST_PROXY; `isUnsafeAllowed` is the opt-in to hop counts and wide ranges. */
export function readTrustProxy(text: string, isUnsafeAllowed: boolean): Verdict {
  if (text === 'false') return { proxies: false };
  if (text === 'true') {
    return isUnsafeAllowed
      ? { proxies: true }
      : { refusal: `trusts every hop: ${BY_ADDRESS} (${OPT_IN} accepts it)` };
  }
  if (/^[0-9]{1,3}$/.test(text)) {
    return isUnsafeAllowed
      ? { proxies: Number(text) }
      : { refusal: `is a hop count: ${BY_ADDRESS} (${OPT_IN} accepts it)` };
  }
  return readList(text, isUnsafeAllowed);
}

function readList(text: string, isUnsafeAllowed: boolean): Verdict {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (entries.length === 0) return { refusal: `names no proxy: ${BY_ADDRESS}` };
  for (const entry of entries) {
    if (NAMED_RANGES.has(entry)) continue;
    if (!isStandardNotation(entry)) {
      return {
        refusal: `is not valid: "${entry}" is not an address or range in standard notation, nor loopback, linklocal or uniquelocal`,
      };
    }
    if (!isUnsafeAllowed && isTooWide(entry)) {
      return {
        refusal: `trusts ${entry}, which is too wide: ${BY_ADDRESS} (${OPT_IN} accepts it)`,
      };
    }
  }
  return { proxies: entries };
}

/**
 * Four decimal numbers or an IPv6 address, with a decimal length or none. The framework would read
 * 010.0.0.0/8 as octal and 0/1 as half of all addresses, and refuses a length of 0.
 */
function isStandardNotation(entry: string): boolean {
  const [address = '', bits, ...rest] = entry.split('/');
  const family = isIP(address);
  if (family === 0 || address.includes('%') || rest.length > 0) return false;
  if (bits === undefined) return true;
  return /^[1-9][0-9]{0,2}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

function isTooWide(entry: string): boolean {
  if (!entry.includes('/')) return false;
  const [address, bits] = ipaddr.parseCIDR(entry);
  if (address instanceof ipaddr.IPv4) return bits < WIDEST_IPV4_BITS;
  if (holdsTooMuchIpv4(address, bits)) return true;
  return bits < WIDEST_IPV6_BITS && !PRIVATE_IPV6.some((range) => isInside(address, bits, range));
}

function holdsTooMuchIpv4(address: ipaddr.IPv6, bits: number): boolean {
  if (bits <= MAPPED_IPV4_BITS) return MAPPED_IPV4.match(address, bits);
  return address.isIPv4MappedAddress() && bits < MAPPED_IPV4_BITS + WIDEST_IPV4_BITS;
}

function isInside(address: ipaddr.IPv6, bits: number, range: string): boolean {
  const [start, length] = ipaddr.IPv6.parseCIDR(range);
  return bits >= length && address.match(start, length);
}
