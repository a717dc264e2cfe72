const MAX_NAME_LENGTH = 253;
/** `URL` has made it lower case and ASCII; DNS carries more, but no receiver is called so. */
const LABEL = /^[a-z0-9_-]{1,63}$/;
/**
 * Names that never mean a public host, whatever a resolver answers: RFC 6761, 6762, 8375, 7686,
 * 9476 and ICANN's resolution on .internal; and the others that networks use by themselves.
 */
const PRIVATE_NAMES =
  /(^|\.)(localhost|local|internal|home\.arpa|intranet|private|corp|home|lan|localdomain|onion|alt|invalid)$/;

/** Without the brackets of an IPv6 literal and without the dot that ends an absolute name. */
export function hostnameOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

/** What is wrong with a name before it is asked for, as a sentence; null if nothing is. */
export function nameProblem(hostname: string): string | null {
  if (hostname.length > MAX_NAME_LENGTH) return 'The host name is too long.';
  return hostname.split('.').every((label) => LABEL.test(label))
    ? null
    : 'The host is neither a name nor an address.';
}

/** A name without a dot is one of the local network, too: it is completed by a search domain. */
export function isPrivateName(hostname: string): boolean {
  return !hostname.includes('.') || PRIVATE_NAMES.test(hostname);
}
