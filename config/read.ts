import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { parseAllowList } from '../outgoing/allow-list.ts';
import { parsePorts } from '../outgoing/ports.ts';
import { Keyring } from '../secrets/keyring.ts';
import { CONTRACT, type Kind } from './contract.ts';

/** What each kind becomes once it is read. */
interface Values {
  'database-url': string;
  'smtp-url': string;
  'http-url': string;
  origin: string;
  port: number;
  integer: number;
  'allow-list': string[];
  ports: string[];
  proxies: string[];
  'log-level': (typeof LOG_LEVELS)[number];
  'header-prefix': string;
  keys: string[];
  text: string;
}

type Entry = (typeof CONTRACT)[number];

/** The environment, checked: one property per variable of the contract. */
export type Settings = {
  [E in Entry as E['name']]: E['default'] extends null
    ? Values[E['kind']] | undefined
    : Values[E['kind']];
};

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const LARGEST_PORT = 65_535;
const DEFAULT_PORT = 3000;

/**
 * A trusted range lets every client inside it choose the address it is limited by, so a wide one
 * is more likely a mistake than a plan.
 */
const WIDEST_IPV4_BITS = 8;
const WIDEST_IPV6_BITS = 16;

/** The environment is not usable; `lines` has one sentence per variable. */
export class ConfigurationError extends Error {
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
    this.name = 'ConfigurationError';
    this.lines = lines;
  }
}

/**
 * Reads and checks every variable of the contract.
 * @throws ConfigurationError naming each bad variable and what to do, never its value where the
 *   value may hold a password.
 */
export function readEnvironment(environment: NodeJS.ProcessEnv): Settings {
  const settings: Record<string, unknown> = {};
  const lines: string[] = [];
  for (const variable of CONTRACT) {
    const text = environment[variable.name]?.trim() || defaultText(variable, environment);
    if (text === undefined) continue;
    const result = schemaOf(variable).safeParse(text);
    if (result.success) settings[variable.name] = result.data;
    else lines.push(`${variable.name} ${result.error.issues[0]?.message ?? 'is not valid.'}`);
  }
  if (lines.length > 0) throw new ConfigurationError(lines);
  return settings as Settings;
}

function defaultText(variable: Entry, environment: NodeJS.ProcessEnv): string | undefined {
  if (variable.default === null) return undefined;
  // A bad PORT is reported for PORT alone.
  const port = SCHEMAS.port.safeParse(environment.PORT?.trim()).data ?? DEFAULT_PORT;
  return String(variable.default).replace(/PORT$/, String(port));
}

function schemaOf(variable: Entry): z.ZodType {
  if (variable.kind === 'integer') return integer(variable.minimum, variable.maximum);
  return SCHEMAS[variable.kind];
}

const SCHEMAS: Record<Exclude<Kind, 'integer'>, z.ZodType> = {
  'database-url': url(
    ['postgres:', 'postgresql:'],
    'must look like postgres://user:password@host:5432/database.',
  ),
  'smtp-url': url(['smtp:', 'smtps:'], 'must look like smtp://user:password@host:587.'),
  'http-url': url(
    ['http:', 'https:'],
    'must be the address people use, like https://bell.example.org.',
  ).transform((text) => text.replace(/\/+$/, '')),
  origin: url(['http:', 'https:'], 'must be one origin, like https://app.example.org.').refine(
    (text) => new URL(text).origin === text,
    'must be an origin exactly as a browser sends it: no path, no slash at the end.',
  ),
  port: integer(0, LARGEST_PORT),
  'allow-list': z.string().transform(readListWith(parseAllowList)),
  ports: z.string().transform(readListWith(parsePorts)),
  proxies: z.string().transform(readProxies),
  'log-level': z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}.`),
  'header-prefix': z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,39}$/, 'must be 1 to 40 letters, digits or "-".'),
  keys: z.string().transform(readKeys),
  text: z.string(),
};

function url(protocols: readonly string[], message: string) {
  return z.string().refine((text) => {
    try {
      return protocols.includes(new URL(text).protocol);
    } catch {
      return false;
    }
  }, message);
}

function integer(minimum: number, maximum: number) {
  const message = `must be a whole number from ${minimum} to ${maximum}.`;
  return z
    .string()
    .regex(/^[0-9]{1,9}$/, message)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, message);
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** A list as it is written, once its parser takes it; the parser's sentence where it does not. */
function readListWith(parse: (entries: string[]) => unknown) {
  return (text: string, context: z.RefinementCtx): string[] => {
    const entries = splitList(text);
    try {
      parse(entries);
      return entries;
    } catch (error) {
      context.addIssue({ code: 'custom', message: `has ${(error as Error).message}` });
      return z.NEVER;
    }
  };
}

function readKeys(text: string, context: z.RefinementCtx): string[] {
  const keys = splitList(text);
  try {
    new Keyring(keys);
    return keys;
  } catch {
    const message = 'must be base64 of 32 random bytes, as from: openssl rand -base64 32.';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }
}

/** Addresses only: a hop count or `true` would let a direct client name its own address. */
function readProxies(text: string, context: z.RefinementCtx): string[] {
  if (text === 'false') return [];
  const entries = splitList(text);
  const refused = entries.find((entry) => !isNarrowRange(entry));
  if (refused === undefined) return entries;
  context.addIssue({
    code: 'custom',
    message:
      `has "${refused}": name each proxy by its address or a range no wider than ` +
      `/${WIDEST_IPV4_BITS} (IPv6: /${WIDEST_IPV6_BITS}), or set it to false.`,
  });
  return z.NEVER;
}

function isNarrowRange(entry: string): boolean {
  const [address = '', bits, ...rest] = entry.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (bits === undefined) return true;
  if (!/^[0-9]{1,3}$/.test(bits) || !ipaddr.isValidCIDR(entry)) return false;
  return Number(bits) >= (family === 4 ? WIDEST_IPV4_BITS : WIDEST_IPV6_BITS);
}
