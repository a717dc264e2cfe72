import ipaddr from 'ipaddr.js';

/** What is no address has one name, so that nobody gains a key by being unreadable. */
const UNREADABLE = 'unreadable';

/** `203.0.113.9:4711` and `[2001:db8::1]:4711`, as some proxies write it. */
const WITH_PORT = /^(?:\[(?<bracketed>[^\]]*)\](?::\d+)?|(?<plain>[\d.]+):\d+)$/;

/**
 * The name a client goes by where it is counted or remembered: an IPv4 address, or the IPv6 network
 * of so many bits, since one host holds a whole network and could otherwise be somebody else at
 * every request. An IPv4-mapped address is the IPv4 address.
 */
export function clientNetwork(address: string, ipv6Bits: number): string {
  const { bracketed, plain } = WITH_PORT.exec(address)?.groups ?? {};
  const bare = (bracketed ?? plain ?? address).replace(/%.*$/, '');
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return bare;
  if (!ipaddr.IPv6.isValid(bare)) return UNREADABLE;
  const parsed = ipaddr.IPv6.parse(bare);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${bare}/${ipv6Bits}`);
  return `${network.toString()}/${ipv6Bits}`;
}
