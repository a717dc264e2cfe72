const LARGEST_PORT = 65_535;

/**
 * Ports of services that take a request's text for commands of their own: those that browsers
 * refuse (the Fetch standard's list, from 1024 up), and databases and caches.
 */
const SERVICE_PORTS: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3306, 3659, 4045, 4190, 5060, 5061, 5432, 6000, 6379, 6566, 6665, 6666,
  6667, 6668, 6669, 6679, 6697, 10080, 11211, 27017,
]);

/** As GitLab has it: the two of the web, and everything that takes no administrator to listen on. */
export const DEFAULT_PORTS = ['80', '443', '1024-65535'] as const;

interface PortRange {
  first: number;
  last: number;
}

/** Which ports a request may go to. */
export type Ports = readonly PortRange[];

/**
 * Reads `80`, `1024-65535`. A service port has to be named by itself: no range includes it.
 *
 * @throws with a sentence that quotes the entry it cannot read
 */
export function parsePorts(entries: readonly string[]): Ports {
  return entries
    .map((entry) => entry.trim())
    .filter(Boolean)
    .map(parseRange);
}

export function includesPort(ports: Ports, port: number): boolean {
  return ports.some(({ first, last }) => {
    if (first === last) return port === first;
    return port >= first && port <= last && !SERVICE_PORTS.has(port);
  });
}

function parseRange(text: string): PortRange {
  const [, from, to = from] = /^(\d{1,5})(?:\s*-\s*(\d{1,5}))?$/.exec(text) ?? [];
  const first = Number(from);
  const last = Number(to);
  if (first >= 1 && first <= last && last <= LARGEST_PORT) return { first, last };
  throw new Error(`"${text}" is neither a port (8443) nor a range of ports (1024-65535).`);
}
