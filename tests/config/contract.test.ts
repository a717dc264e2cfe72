import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { serverOptions, workerOptions } from '../../cli/settings.ts';
import { CONTRACT, CONVENTIONS, type Variable } from '../../config/contract.ts';
import { readEnvironment, type Settings } from '../../config/read.ts';
import { environmentReads, readText, sourceFiles } from './environment-reads.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const ENTRIES: readonly Variable[] = CONTRACT;
const READ = ENTRIES.filter(({ kind }) => kind !== 'removed').map(({ name }) => name);
const REMOVED = ENTRIES.filter(({ kind }) => kind === 'removed').map(({ name }) => name);

/** Who may take the environment as a whole. */
const WHOLE = [
  // The one place that reads it.
  'cli/settings.ts',
  // Hand it on to a process of their own.
  'bench/delivery.ts',
  'bench/figures/push.ts',
];

/** Goes through the contract, name by name. */
const READER = 'config/read.ts';

t.test('the contract is data: it imports nothing', async (t) => {
  t.notMatch(
    readFileSync(path.join(ROOT, 'config/contract.ts'), 'utf8'),
    /^\s*(import|export .* from)\b/m,
  );
});

t.test('what is read is what is declared, by literal name, at few places', async (t) => {
  const reads = environmentReads(sourceFiles());
  const known = new Set<string>([...READ, ...CONVENTIONS]);
  for (const [name, places] of reads.names) {
    t.ok(known.has(name), `${name} is declared: it is read at ${places.join(', ')}`);
    t.notOk(REMOVED.includes(name), `${name} is removed`);
  }
  for (const name of known) {
    t.ok(reads.names.has(name), `${name} is read`);
  }
  const filesOf = (places: string[]) =>
    [...new Set(places.map((place) => place.replace(/:\d+$/, '')))].sort();
  t.strictSame(filesOf(reads.computed), [READER], 'nothing else is read by a computed name');
  t.strictSame(filesOf(reads.whole), [...WHOLE].sort(), 'who takes the environment as a whole');
});

t.test('the search finds each way to read a variable', async (t) => {
  const look = (text: string) =>
    readText(text, 'example.ts', { names: new Map(), computed: [], whole: [] });
  for (const text of [
    'process.env.SECRET_ONE',
    "process.env['SECRET_ONE']",
    'process.env?.SECRET_ONE',
    'globalThis.process.env.SECRET_ONE',
    'settings.SECRET_ONE',
    'const { SECRET_ONE: one } = settings;',
    'const value: string = environment.SECRET_ONE as string;',
  ]) {
    t.strictSame([...look(text).names.keys()], ['SECRET_ONE'], text);
  }
  for (const text of [
    'process.env[name]',
    `process.env[\`\${prefix}_ONE\`]`,
    'settings[name]',
    'environment[name]',
  ]) {
    t.equal(look(text).computed.length, 1, text);
  }
  for (const text of [
    'use(process.env)',
    'const { SECRET_ONE } = process.env;',
    '({ ...process.env })',
    "import { env } from 'node:process';",
    'const { env } = process;',
    'const { env: { SECRET_ONE } } = process;',
    'const other = process;',
    'let env; ({ env } = process);',
    "Reflect.get(process, 'env');",
  ]) {
    t.equal(look(text).whole.length, 1, text);
  }
  const nothing = look(
    "// process.env.A\nconst text = 'process.env.B'; other.env.C; settings.lower;",
  );
  t.strictSame([...nothing.names.keys(), ...nothing.computed, ...nothing.whole], []);
});

t.test('every entry is well formed', async (t) => {
  t.equal(new Set(ENTRIES.map(({ name }) => name)).size, ENTRIES.length, 'each name once');
  for (const { name, kind, type, why, requiredWith, ...entry } of ENTRIES) {
    t.match(name, /^[A-Z][A-Z0-9_]*$/);
    t.match(why, /^[^\n]+\.$/, `${name} has a sentence`);
    t.equal(type === undefined, kind === 'removed', `${name} has a type unless it is removed`);
    if (kind === 'default') t.not(entry.default, undefined, `${name} has a default`);
    if (kind === 'optional' || kind === 'removed') t.equal(entry.default, undefined, name);
    if (kind === 'required-with') t.ok(requiredWith?.length, `${name} says with what`);
    for (const other of requiredWith ?? []) t.ok(READ.includes(other), `${name} with ${other}`);
    t.equal(entry.minimum === undefined, type !== 'integer', `${name} has bounds if a number`);
  }
});

t.test('.env.example and the README have each variable, as generated', async (t) => {
  const example = readFileSync(path.join(ROOT, '.env.example'), 'utf8');
  const readme = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
  for (const name of READ) {
    t.match(example, new RegExp(`^#${name}=`, 'm'), `${name} is in .env.example`);
    t.match(readme, new RegExp(`^\\| \`${name}\` +\\|`, 'm'), `${name} is in the README`);
  }
  for (const name of REMOVED) {
    t.notMatch(example, new RegExp(`^#?${name}=`, 'm'));
    t.notMatch(readme, new RegExp(`^\\| \`${name}\` +\\|`, 'm'));
  }
  const tsx = path.join(ROOT, 'node_modules/.bin/tsx');
  t.doesNotThrow(() => execFileSync(tsx, ['scripts/env-docs.ts', '--check'], { cwd: ROOT }));
});

/** Where the value of each entry with a default arrives. */
const ARRIVES: Record<string, (settings: Settings) => unknown> = {
  DB_POOL_SIZE: (settings) => server(settings).poolSize,
  TRUST_PROXY: (settings) => server(settings).trustProxy,
  APP_URL: (settings) => [server(settings).appUrl, worker(settings).appUrl],
  AUTH_PROVIDERS: (settings) => server(settings).authProviders,
  PORT: (settings) => server(settings).port,
  HOST: (settings) => [server(settings).host, probes(settings)?.host],
  BELLWIRE_DATA: (settings) => settings.BELLWIRE_DATA,
  SIGN_IN_LIMIT: (settings) => server(settings).signInLimit,
  ARGON2_MEMORY_KIB: (settings) => server(settings).passwordCost?.memoryKib,
  ARGON2_ITERATIONS: (settings) => server(settings).passwordCost?.iterations,
  ARGON2_PARALLELISM: (settings) => server(settings).passwordCost?.parallelism,
  MAIL_FROM: (settings) => [server(settings).mailFrom, worker(settings).mailFrom],
  WEBHOOK_PORTS: (settings) => worker(settings).webhookPorts,
  WEBHOOK_HEADER_PREFIX: (settings) => worker(settings).webhookHeaderPrefix,
  LOG_LEVEL: (settings) => server(settings).logLevel,
  SLOW_QUERY_MS: (settings) => [server(settings).slowQueryMs, worker(settings).slowQueryMs],
};

const server = (settings: Settings) => serverOptions(settings, 'postgres://server');
const worker = (settings: Settings) => workerOptions(settings, 'postgres://worker');
const probes = (settings: Settings) => workerOptions({ ...settings, WORKER_PORT: 0 }, '').probes;

/** The values that are not the text of the default itself. */
const AS_READ: Record<string, unknown> = {
  TRUST_PROXY: ['127.0.0.1/32', '::1/128'],
  AUTH_PROVIDERS: ['local'],
  APP_URL: 'http://localhost:3000',
  WEBHOOK_PORTS: ['80', '443', '1024-65535'],
};

t.test('each default is what unset and blank come to, where it is used', async (t) => {
  for (const { name, default: value } of ENTRIES) {
    if (value === undefined) continue;
    const look = ARRIVES[name];
    if (!look) t.fail(`${name} has a default, and this test does not say where it arrives`);
    const wanted = AS_READ[name] ?? value;
    for (const environment of [{}, { [name]: '' }, { [name]: ' \t' }]) {
      const arrived = look?.(readEnvironment(environment));
      const each = Array.isArray(arrived) && !Array.isArray(wanted) ? arrived : [arrived];
      for (const one of each) t.strictSame(one, wanted, `${name} ${JSON.stringify(environment)}`);
    }
  }
});
