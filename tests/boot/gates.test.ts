import { existsSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { until } from '../worker/support.ts';
import { runProcess, startProcess } from './process.ts';

/** Nobody listens there: who gets so far has passed every gate. */
const NOWHERE = {
  DATABASE_SERVER_URL: 'postgres://bellwire_server:hunter2@127.0.0.1:1/none',
  DATABASE_WORKER_URL: 'postgres://bellwire_worker:hunter2@127.0.0.1:1/none',
};
const ADMIN = {
  ADMIN_USERNAME: 'Root',
  ADMIN_PASSWORD: 'hunter2 hunter2',
  ADMIN_EMAIL: 'root@example.org',
};

/** Only waits; what came of it is the last test. */
const hanging = startLifecycle(t, 'a stop that hangs');
const hangs = hanging.says(/running/).then(() => hanging.end('SIGTERM'));

const NO_PROC = existsSync('/proc/self/status') ? false : 'there is no /proc here';

/** What each gate refuses; tests/config/read.test.ts has the cases of each. */
const REFUSED: [what: string, environment: NodeJS.ProcessEnv, line: RegExp][] = [
  [
    'pool size, and what is removed is told before',
    { DB_POOL_SIZE: '101', DB_PASS: 'hunter2' },
    /^DB_PASS is set and not read\. .*\nDB_POOL_SIZE "101" is not a whole number from 1 to 100/,
  ],
  ['trust proxy', { TRUST_PROXY: '1' }, /^TRUST_PROXY "1" is a hop count: name each proxy/],
  [
    'the opt-in',
    { TRUST_PROXY: '1', TRUST_PROXY_ALLOW_HOP_COUNT: '1', PORT: '0' },
    /^TRUST_PROXY "1" is a hop count.*\nTRUST_PROXY_ALLOW_HOP_COUNT "1" is neither true nor false/,
  ],
  ['administrator', { ...ADMIN, ADMIN_EMAIL: '' }, /^ADMIN_EMAIL is required with ADMIN_USERNAME/],
  [
    'APP_URL',
    { NODE_ENV: 'production', ...ADMIN },
    /^APP_URL is required in production: The address people use/,
  ],
  ['providers', { AUTH_PROVIDERS: 'local,oidc' }, /^AUTH_PROVIDERS names oidc, which is not conf/],
  ['port', { PORT: '65536' }, /^PORT "65536" is not a whole number from 0 to 65535/],
];

t.test('each gate: one line that names the variable, exit 1, and nothing was asked', async (t) => {
  const { url, connections } = await listen(t);
  const urls = { DATABASE_SERVER_URL: url, DATABASE_URL: url };
  for (const [what, environment, line] of REFUSED) {
    const { code, stdout, stderr } = await runProcess(t, ['server'], { ...urls, ...environment });
    t.equal(code, 1, what);
    t.match(stderr, line);
    t.match(stderr, /^([A-Z_]+ .*\.\n)+$/, 'nothing but such lines');
    t.equal(stdout, '');
    t.notMatch(stderr, /hunter2/);
  }
  t.equal(connections(), 0);
});

t.test('their neighbours pass', async (t) => {
  const { code, stderr } = await runProcess(t, ['server'], {
    ...NOWHERE,
    ...ADMIN,
    NODE_ENV: 'production',
    DB_POOL_SIZE: '100',
    TRUST_PROXY: '10.0.0.0/7',
    TRUST_PROXY_ALLOW_HOP_COUNT: 'true',
    APP_URL: 'http://localhost:3000',
    AUTH_PROVIDERS: 'local',
    PORT: '65535',
    DB_PASS: 'hunter2',
  });
  t.equal(code, 1);
  const [removed, doubted, database, ...rest] = stderr.trim().split('\n');
  t.match(removed, /^DB_PASS is set and not read\. Put the password into DATABASE_URL\.$/);
  t.match(doubted, /^warning: APP_URL "http:\/\/localhost:3000" points at this machine/);
  t.match(database, /^The server cannot use its database \(DATABASE_SERVER_URL\): .*ECONNREFUSED/);
  t.strictSame(rest, []);
  t.notMatch(stderr, /hunter2/);
});

t.test('a worker has the gates that concern it', async (t) => {
  const production = { ...NOWHERE, NODE_ENV: 'production' };
  const refused = await runProcess(t, ['worker'], { ...production, SLOW_QUERY_MS: 'x' });
  t.match(refused, { code: 1, stderr: /^APP_URL is required.*\nSLOW_QUERY_MS "x" is not .*\n$/ });
  const passed = await runProcess(t, ['worker'], {
    ...production,
    APP_URL: 'https://bell.example',
  });
  t.match(passed, {
    code: 1,
    stderr: /^The worker cannot use its database \(DATABASE_WORKER_URL\): .*ECONNREFUSED/,
  });
  t.notMatch(passed.stderr + passed.stdout, /hunter2/);
});

t.test('start has the gates of the server', async (t) => {
  const { code, stderr } = await runProcess(t, ['start'], { NODE_ENV: 'production' });
  t.equal(code, 1);
  t.match(stderr, /^ADMIN_USERNAME .*\nADMIN_PASSWORD .*\nADMIN_EMAIL .*\nAPP_URL .*\n$/);
});

t.test('a signal during the start ends it at once, with 0', async (t) => {
  const { url, connections } = await listen(t);
  for (const [command, variable, signal] of [
    ['server', 'DATABASE_SERVER_URL', 'SIGTERM'],
    ['worker', 'DATABASE_WORKER_URL', 'SIGINT'],
  ] as const) {
    // A database that takes the connection and says nothing.
    const before = connections();
    const started = startProcess(t, [command], { [variable]: url });
    await until('it connects', () => connections() > before);
    t.match(await started.end(signal), { code: 0, signal: null }, command);
    t.equal(started.stderr, `stopped on ${signal} during boot\n`);
  }
});

t.test('and one while the program is still being loaded', { skip: NO_PROC }, async (t) => {
  const stall = new URL('./stall.mjs', import.meta.url).href;
  const early = startProcess(t, ['server'], { ...NOWHERE, NODE_OPTIONS: `--import ${stall}` });
  await until('it has handlers', () => early.handles('SIGHUP'));
  t.match(await early.end('SIGTERM'), { code: 0, signal: null });
  t.match(early.stderr, /^stopped on SIGTERM during boot\n$/);
});

t.test('a mistake in the program stops what runs, and exits 1', async (t) => {
  const failing = startLifecycle(t, 'a failure');
  t.match(await failing.exit, { code: 1, signal: null });
  t.match(failing.stdout, /stopped all the same/);
  t.match(failing.stderr, /a mistake in the program[\s\S]*\nstopped cleanly on a failure\n$/);
});

t.test('under npm one Ctrl-C comes twice; a later one is a second one', async (t) => {
  const twice = startLifecycle(t, 'a Ctrl-C under npm, and another one');
  t.match(await twice.exit, { code: 1, signal: null });
  t.match(twice.stdout, /still stopping/);
  t.match(twice.stderr, /^\nStopping …\nSIGINT again: not waiting any longer\n$/);
});

t.test('a stop that hangs is given up after ten seconds', async (t) => {
  t.match(await hangs, { code: 1, signal: null });
  t.match(hanging.stderr, /^\nStopping …\nNot stopped after 10 s: giving up\.\n$/);
});

function startLifecycle(t: Test, what: string) {
  const program = ['--import', 'tsx', fileURLToPath(new URL('./lifecycle.ts', import.meta.url))];
  return startProcess(t, [what], {}, program);
}

/** A port that takes connections and never answers. */
async function listen(t: Test): Promise<{ url: string; connections: () => number }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    sockets.push(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return { url: `postgres://me:hunter2@127.0.0.1:${port}/x`, connections: () => sockets.length };
}
