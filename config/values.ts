import { parseAllowList } from '../outgoing/allow-list.ts';
import { parsePorts } from '../outgoing/ports.ts';
import { Keyring } from '../secrets/keyring.ts';
import type { ValueType, Variable } from './contract.ts';
import { type Provider, readProviders } from './providers.ts';
import { readTrustProxy, type TrustedProxies } from './trust-proxy.ts';

/** What each type of value becomes once it is read. */
export interface Values {
  'database-url': string;
  'smtp-url': string;
  'http-url': string;
  origin: string;
  port: number;
  integer: number;
  boolean: boolean;
  'allow-list': string[];
  ports: string[];
  proxies: TrustedProxies;
  providers: Provider[];
  'log-level': (typeof LOG_LEVELS)[number];
  'header-prefix': string;
  keys: string[];
  email: string;
  name: string;
  password: string;
  token: string;
  text: string;
}

/** A value that cannot be used; the message is a sentence without its subject and full stop. */
export class Refusal extends Error {}

interface Context {
  variable: Variable;
  /** The opt-in to what TRUST_PROXY refuses otherwise. */
  isUnsafeProxyAllowed: boolean;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export const LARGEST_PORT = 65_535;
const MOST_CHARACTERS = 255;
const MOST_EMAIL_CHARACTERS = 320;
const LEAST_PASSWORD_CHARACTERS = 8;
const MOST_PASSWORD_CHARACTERS = 1_000;
const LEAST_TOKEN_CHARACTERS = 16;
const MOST_SHOWN_CHARACTERS = 60;

/** @throws Refusal that never quotes what may hold a password */
export function readValue(type: ValueType, text: string, context: Context): unknown {
  return READERS[type](text, context);
}

type Readers = { [T in ValueType]: (text: string, context: Context) => Values[T] };

const READERS: Readers = {
  'database-url': (text) =>
    url(
      text,
      ['postgres:', 'postgresql:'],
      'must look like postgres://user:password@host:5432/database',
    ),
  'smtp-url': (text) =>
    url(text, ['smtp:', 'smtps:'], 'must look like smtp://user:password@host:587'),
  'http-url': (text) => {
    const address = new URL(
      url(
        text,
        ['http:', 'https:'],
        `${shown(text)} is not an http or https URL: set it to the address people use, like https://bell.example.org`,
      ),
    );
    // Links are built by writing behind it, and the cookie goes by its scheme: HTTPS:// is https://.
    if (address.username === '' && address.password === '' && !/[?#]/.test(address.href)) {
      return address.href.replace(/\/+$/, '');
    }
    throw new Refusal('must be an address alone: no user before it, no "?" and no "#" behind it');
  },
  origin: (text) => {
    const origin = url(
      text,
      ['http:', 'https:'],
      'must be one origin, like https://app.example.org',
    );
    if (new URL(origin).origin === origin) return origin;
    throw new Refusal(
      'must be an origin exactly as a browser sends it: no path, no slash at the end',
    );
  },
  port: (text) => wholeNumber(text, 0, LARGEST_PORT),
  integer: (text, { variable }) =>
    wholeNumber(text, variable.minimum ?? 0, variable.maximum ?? Number.MAX_SAFE_INTEGER),
  boolean: (text) => {
    if (text === 'true' || text === 'false') return text === 'true';
    throw new Refusal(
      `${shown(text)} is neither true nor false: set it to one of them, or not at all`,
    );
  },
  'allow-list': listWith(parseAllowList),
  ports: listWith(parsePorts),
  proxies: (text, { isUnsafeProxyAllowed }) => {
    const verdict = readTrustProxy(text, isUnsafeProxyAllowed);
    if ('proxies' in verdict) return verdict.proxies;
    throw new Refusal(`${shown(text)} ${verdict.refusal}`);
  },
  providers: (text) => {
    const verdict = readProviders(text);
    if ('providers' in verdict) return verdict.providers;
    throw new Refusal(verdict.refusal);
  },
  'log-level': (text) => {
    const level = LOG_LEVELS.find((known) => known === text);
    if (level) return level;
    throw new Refusal(`must be one of ${LOG_LEVELS.join(', ')}`);
  },
  'header-prefix': (text) =>
    matching(text, /^[A-Za-z][A-Za-z0-9-]{0,39}$/, 'must be 1 to 40 letters, digits or "-"'),
  keys: (text) => {
    const keys = splitList(text);
    try {
      new Keyring(keys);
      return keys;
    } catch {
      throw new Refusal('must be base64 of 32 random bytes, as from: openssl rand -base64 32');
    }
  },
  email: (text) => {
    if (text.length <= MOST_EMAIL_CHARACTERS && /^[^\s\p{Cc}@<>]+@[^\s\p{Cc}@<>]+$/u.test(text))
      return text;
    throw new Refusal('must be one e-mail address, like admin@example.org');
  },
  name: (text) => {
    if (text.length <= MOST_CHARACTERS && !/\p{Cc}/u.test(text)) return text;
    throw new Refusal(
      `must be a name of at most ${MOST_CHARACTERS} characters, all of them visible`,
    );
  },
  password: (text) => {
    const { length } = text;
    if (length >= LEAST_PASSWORD_CHARACTERS && length <= MOST_PASSWORD_CHARACTERS) return text;
    throw new Refusal(
      `must have ${LEAST_PASSWORD_CHARACTERS} to ${MOST_PASSWORD_CHARACTERS} characters`,
    );
  },
  token: (text) =>
    matching(
      text,
      /^[\x21-\x7e]{16,}$/,
      `must have ${LEAST_TOKEN_CHARACTERS} characters or more and no blanks, as from: openssl rand -hex 24`,
    ),
  text: (text) => text,
};

function url(text: string, protocols: readonly string[], refusal: string): string {
  if (URL.canParse(text) && protocols.includes(new URL(text).protocol)) return text;
  throw new Refusal(refusal);
}

function wholeNumber(text: string, minimum: number, maximum: number): number {
  const value = Number(text);
  if (/^[0-9]{1,9}$/.test(text) && value >= minimum && value <= maximum) return value;
  throw new Refusal(`${shown(text)} is not a whole number from ${minimum} to ${maximum}`);
}

function matching(text: string, form: RegExp, refusal: string): string {
  if (form.test(text)) return text;
  throw new Refusal(refusal);
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** A list as it is written, once its parser takes it; the parser's sentence where it does not. */
function listWith(parse: (entries: string[]) => unknown) {
  return (text: string): string[] => {
    const entries = splitList(text);
    try {
      parse(entries);
      return entries;
    } catch (error) {
      throw new Refusal(`has ${(error as Error).message.replace(/\.$/, '')}`);
    }
  };
}

/** A value in a message: on one line, and not longer than that. */
/** Without the user and the password that an address may hold. */
function shown(text: string): string {
  return JSON.stringify(text.replace(/\/\/.*@/, '//…@').slice(0, MOST_SHOWN_CHARACTERS));
}
