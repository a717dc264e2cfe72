import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * What is not public unicast, of IANA's special-purpose registries for IPv4 and IPv6 and of what
 * RFCs say beside them, each with words for a person; link-local is below. Written out rather than asked of ipaddr.js:
 * its list changes with its releases. Anycast ranges that IANA calls globally reachable (AS112,
 * AMT) are in it too: nobody receives there.
 */
const SPECIAL_RANGES: readonly (readonly [range: string, purpose: string])[] = [
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'a private network'],
  ['100.64.0.0/10', 'shared address space behind a provider'],
  ['127.0.0.0/8', 'loopback'],
  ['172.16.0.0/12', 'a private network'],
  ['192.0.0.0/24', 'protocol assignments'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'AS112'],
  ['192.52.193.0/24', 'multicast tunnels'],
  ['192.88.99.0/24', 'relays of 6to4'],
  ['192.168.0.0/16', 'a private network'],
  ['192.175.48.0/24', 'AS112'],
  ['198.18.0.0/15', 'benchmarks'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
  ['::/128', 'no address at all'],
  ['::1/128', 'loopback'],
  // IPv4-compatible; a mapped address and that of a NAT64 are judged as the IPv4 address they are.
  ['::/96', 'an IPv4 address in a form that is out of use'],
  ['::ffff:0:0:0/96', 'an IPv4 address in translated form'],
  ['64:ff9b:1::/48', 'a NAT64 of a local network'],
  ['100::/64', 'discard'],
  ['100:0:0:1::/64', 'a dummy prefix'],
  ['2001::/32', 'Teredo'],
  ['2001:2::/48', 'benchmarks'],
  ['2001:10::/28', 'ORCHID, out of use'],
  ['2001:20::/28', 'ORCHIDv2'],
  ['2001:30::/28', 'identities of drones'],
  ['2001::/23', 'protocol assignments'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'AS112'],
  ['3fff::/20', 'documentation'],
  ['5f00::/16', 'segment routing'],
  ['fc00::/7', 'a private network'],
  ['fec0::/10', 'site-local, out of use'],
  ['ff00::/8', 'multicast'],
];

/**
 * Where a machine of a cloud gets its credentials. An operator who allows a wide range, the whole
 * of fd00::/8 say, does not mean these: they are reached only if named by themselves.
 */
const METADATA_RANGES: readonly (readonly [range: string, purpose: string])[] = [
  ['169.254.0.0/16', 'link-local, where clouds have their metadata'],
  ['fe80::/10', 'link-local'],
  ['100.100.100.200/32', 'the metadata service of Alibaba Cloud'],
  ['168.63.129.16/32', 'the host of a machine on Azure'],
  ['192.0.0.192/32', 'the metadata service of Oracle Cloud'],
  ['fd00:ec2::/32', 'services of AWS for its machines, metadata among them'],
  ['fd20:ce::254/128', 'the metadata service of Google Cloud'],
  ['fd00:42::42/128', 'the metadata service of Scaleway'],
];

const SPECIAL = SPECIAL_RANGES.map(toRange);
const METADATA = METADATA_RANGES.map(toRange);
/** All addresses of the public IPv6 internet. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** DNS64 answers with these for every name that has only IPv4. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
/** ISATAP, in the sixth group of an address that leads to the IPv4 one in its last two. */
const ISATAP_GROUP = 0x5efe;
const ISATAP_FLAGS = [0, 0x200];

interface Range {
  network: Address;
  prefixBits: number;
  /** `10.0.0.0/8 (a private network)` */
  title: string;
}

function toRange([text, purpose]: readonly [range: string, purpose: string]): Range {
  const [network, prefixBits] = ipaddr.parseCIDR(text);
  return { network, prefixBits, title: `${text} (${purpose})` };
}

/**
 * An address as it was meant: an IPv4 address written as an IPv6 one is that IPv4 address. Null
 * for anything else than an address, and for one with a zone, which means another one on every
 * machine. Only what a socket takes as an address counts: what it would look up does not.
 */
export function parseAddress(text: string): Address | null {
  if (isIP(text) === 0 || text.includes('%')) return null;
  const address = ipaddr.parse(text);
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()
    ? address.toIPv4Address()
    : address;
}

/** Which range an address is in that no request may go to; null for public unicast. */
export function specialRange(address: Address): string | null {
  const range = [...METADATA, ...SPECIAL].find((each) =>
    isInside(address, each.network, each.prefixBits),
  );
  if (range) return range.title;
  if (address instanceof ipaddr.IPv4) return null;
  if (address.match(NAT64)) return specialRange(embeddedInNat64(address));
  if (!address.match(GLOBAL_IPV6)) return 'no range of the public internet';
  return isIsatap(address) ? 'a tunnel to an IPv4 address (ISATAP)' : null;
}

/** The range of cloud metadata an address is in, also behind a NAT64; null for any other. */
export function metadataRange(address: Address): string | null {
  const reached =
    address instanceof ipaddr.IPv6 && address.match(NAT64) ? embeddedInNat64(address) : address;
  const range = METADATA.find((each) => isInside(reached, each.network, each.prefixBits));
  return range ? range.title : null;
}

export function isInside(address: Address, network: Address, prefixBits: number): boolean {
  if (address instanceof ipaddr.IPv4) {
    return network instanceof ipaddr.IPv4 && address.match(network, prefixBits);
  }
  return network instanceof ipaddr.IPv6 && address.match(network, prefixBits);
}

function embeddedInNat64(address: ipaddr.IPv6): ipaddr.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(-4));
}

function isIsatap(address: ipaddr.IPv6): boolean {
  const [, , , , fifth = 0, sixth = 0] = address.parts;
  return sixth === ISATAP_GROUP && ISATAP_FLAGS.includes(fifth);
}
