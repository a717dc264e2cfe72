import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import t, { type Test } from 'tap';

const BIN = fileURLToPath(new URL('../../bin/bellwire.js', import.meta.url));

t.test('command lines that make no sense exit 2', async (t) => {
  const cases: [string[], RegExp][] = [
    [['nonsense'], /unknown command 'nonsense'/],
    [['strat'], /Did you mean start\?/],
    [['start', '--nonsense'], /unknown option '--nonsense'/],
    [['db', '--port', '70000'], /from 1 to 65535/],
    [['db', '--port', 'x'], /from 1 to 65535/],
    [['migrate', 'extra'], /too many arguments/],
    [[], /Usage: bellwire/],
  ];
  for (const [parameters, message] of cases) {
    const { code, stderr } = await run(parameters);
    t.equal(code, 2, parameters.join(' '));
    t.match(stderr, message);
  }
});

t.test('help and version exit 0', async (t) => {
  const help = await run(['--help']);
  t.equal(help.code, 0);
  for (const part of ['Examples:', 'DATABASE_URL', 'Exit codes:']) t.match(help.stdout, part);
  t.equal((await run(['start', '--help'])).code, 0);
  t.match(await run(['--version']), { code: 0, stdout: /^\d+\.\d+\.\d+\n$/ });
});

t.test('a command without its database says so in one line and exits 1', async (t) => {
  for (const command of ['server', 'worker', 'migrate']) {
    const { code, stderr } = await run([command]);
    t.equal(code, 1, command);
    t.match(stderr, /^bellwire \w+ needs .*DATABASE_URL.*\n$/);
  }
  const { code, stderr } = await run(['migrate'], { DATABASE_URL: 'postgres://me@127.0.0.1:1/x' });
  t.equal(code, 1);
  t.match(stderr, /^connect ECONNREFUSED 127\.0\.0\.1:1\n$/);
});

t.test('db: prints a URL per login, keeps running, stops with Postgres', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'bellwire-cli-'));
  await chmod(folder, 0o711);
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const child = start(t, ['db', '--data', path.join(folder, 'data')]);
  const urls = await readUrls(child, 4);
  t.strictSame(
    [...urls.keys()],
    ['DATABASE_URL', 'DATABASE_SERVER_URL', 'DATABASE_WORKER_URL', 'DATABASE_AUTHENTICATOR_URL'],
  );
  const names = await Promise.all([...urls.values()].map(currentUser));
  t.strictSame(names, ['postgres', 'bellwire_server', 'bellwire_worker', 'authenticator']);

  const migrated = await run(['migrate'], { DATABASE_URL: urls.get('DATABASE_URL') });
  t.match(migrated, { code: 0, stdout: /already up to date/ });

  child.kill('SIGINT');
  t.equal(await exitCode(child), 0);
  await t.rejects(currentUser(urls.get('DATABASE_URL') ?? ''), { code: 'ECONNREFUSED' });
});

type Child = ChildProcessByStdio<null, Readable, Readable>;

function start(t: Test | undefined, parameters: string[], environment = {}): Child {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [BIN, ...parameters], {
    env: { PATH, HOME, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t?.teardown(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGTERM');
    await exitCode(child);
  });
  return child;
}

async function run(parameters: string[], environment = {}) {
  const child = start(undefined, parameters, environment);
  const [code, stdout, stderr] = await Promise.all([
    exitCode(child),
    readAll(child.stdout),
    readAll(child.stderr),
  ]);
  return { code, stdout, stderr };
}

function exitCode(child: Child): Promise<number | null> {
  if (child.exitCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once('exit', resolve));
}

async function readAll(stream: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += chunk;
  return text;
}

/** The NAME=value lines at the start of the output. */
async function readUrls(child: Child, count: number): Promise<Map<string, string>> {
  const urls = new Map<string, string>();
  for await (const line of createInterface({ input: child.stdout })) {
    const at = line.indexOf('=');
    urls.set(line.slice(0, at), line.slice(at + 1));
    if (urls.size === count) break;
  }
  // Leaving the loop paused the stream; a full pipe would stop the process.
  child.stdout.resume();
  return urls;
}

async function currentUser(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>('select current_user as name');
    return rows[0]?.name ?? '';
  } finally {
    await client.end();
  }
}
