import { CONTRACT, type ProcessName, type Variable } from './contract.ts';
import { LARGEST_PORT, Refusal, readValue, type Values } from './values.ts';

type Entry = (typeof CONTRACT)[number];
type ReadEntry = Exclude<Entry, { kind: 'removed' }>;
type Name = ReadEntry['name'];

/** The environment, checked: one property per variable of the contract that is read. */
export type Settings = {
  [E in ReadEntry as E['name']]: E extends { default: string | number }
    ? Values[E['type']]
    : Values[E['type']] | undefined;
};

const DEFAULT_PORT = 3000;
const PRODUCTION = 'production';

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
 * Reads and checks every variable of the contract, or only those of `names`.
 *
 * @param of whose necessary variables have to be there
 * @throws ConfigurationError naming each bad variable and what to do, never its value where the
 *   value may hold a password.
 */
export function readEnvironment(
  environment: NodeJS.ProcessEnv,
  of: ProcessName = 'server',
  names?: readonly Name[],
): Settings {
  const settings: Record<string, unknown> = {};
  const lines: string[] = [];
  const isUnsafeProxyAllowed = environment.TRUST_PROXY_ALLOW_HOP_COUNT?.trim() === 'true';
  for (const variable of CONTRACT as readonly Variable[]) {
    if (variable.type === undefined) continue;
    if (names && !names.includes(variable.name as Name)) continue;
    const given = givenText(variable, environment);
    const missing = given === undefined ? whyNecessary(variable, environment, of) : undefined;
    if (missing) lines.push(`${variable.name} ${missing}`);
    const text = given ?? defaultText(variable, environment);
    if (text === undefined || missing) continue;
    try {
      settings[variable.name] = readValue(variable.type, text, { variable, isUnsafeProxyAllowed });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      lines.push(`${variable.name} ${error.message}.`);
    }
  }
  if (lines.length > 0) throw new ConfigurationError(lines);
  return settings as Settings;
}

/** One line for each variable that is set and not read (any more). None of them stops a start. */
export function ignoredVariables(environment: NodeJS.ProcessEnv): string[] {
  return (CONTRACT as readonly Variable[])
    .filter(({ kind, name }) => kind === 'removed' && environment[name]?.trim())
    .map(({ name, why }) => `${name} is set and not read. ${why}`);
}

/** What boots, and yet is hardly meant. */
export function doubts(settings: Settings): string[] {
  if (!isProduction(settings) || !isThisMachine(settings.APP_URL)) return [];
  return [
    `APP_URL "${settings.APP_URL}" points at this machine: nobody else can follow a link in an e-mail.`,
  ];
}

export function isGiven(environment: NodeJS.ProcessEnv, name: Name): boolean {
  return Boolean(environment[name]?.trim());
}

/** The text as it counts; undefined for unset and blank. Blanks are part of a password. */
function givenText(variable: Variable, environment: NodeJS.ProcessEnv): string | undefined {
  const text = environment[variable.name];
  if (!text?.trim()) return undefined;
  return variable.type === 'password' ? text : text.trim();
}

function defaultText(variable: Variable, environment: NodeJS.ProcessEnv): string | undefined {
  if (variable.default === undefined) return undefined;
  // A bad PORT is reported for PORT alone.
  const given = Number(environment.PORT?.trim() || DEFAULT_PORT);
  const port = given >= 0 && given <= LARGEST_PORT ? given : DEFAULT_PORT;
  return String(variable.default).replace(/PORT$/, String(port));
}

export function isProduction(settings: Settings): boolean {
  return settings.NODE_ENV === PRODUCTION;
}

/** Why a variable that is not given has to be, as a sentence without its subject. */
function whyNecessary(
  { kind, requiredWith, requiredBy, why }: Variable,
  environment: NodeJS.ProcessEnv,
  of: ProcessName,
): string | undefined {
  if (requiredBy && !requiredBy.includes(of)) return undefined;
  if (kind === 'required') return `is required: ${why}`;
  if (kind === 'required-in-production' && environment.NODE_ENV?.trim() === PRODUCTION) {
    return `is required in production: ${why}`;
  }
  const companion = requiredWith?.find((name) => environment[name]?.trim());
  return companion && `is required with ${companion}: ${why}`;
}

function isThisMachine(url: string): boolean {
  const { hostname } = new URL(url);
  return (
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname) ||
    /(^|\.)localhost$/.test(hostname)
  );
}
