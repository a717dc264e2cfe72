import t from 'tap';
import type { ProcessName } from '../../config/contract.ts';
import {
  ConfigurationError,
  doubts,
  ignoredVariables,
  readEnvironment,
} from '../../config/read.ts';
import { readTrustProxy } from '../../config/trust-proxy.ts';

t.test('an empty environment gives the defaults', async (t) => {
  const settings = readEnvironment({ DATABASE_URL: '', LOG_LEVEL: ' ' });
  t.equal(settings.PORT, 3000);
  t.equal(settings.APP_URL, 'http://localhost:3000');
  t.equal(settings.DB_POOL_SIZE, 10);
  t.equal(settings.LOG_LEVEL, 'info');
  t.equal(settings.DATABASE_URL, undefined);
  t.same(settings.TRUST_PROXY, ['127.0.0.1/32', '::1/128']);
});

t.test('values are read as what they are', async (t) => {
  const settings = readEnvironment({
    PORT: '8080',
    WEBHOOK_ALLOW: ' hooks.internal, 10.1.0.0/16,,',
    WEBHOOK_PORTS: '443, 8000 - 8999',
    TRUST_PROXY: 'false',
    APP_URL: 'https://bell.example.org/',
  });
  t.equal(settings.PORT, 8080);
  t.same(settings.WEBHOOK_ALLOW, ['hooks.internal', '10.1.0.0/16']);
  t.same(settings.WEBHOOK_PORTS, ['443', '8000 - 8999']);
  t.equal(settings.TRUST_PROXY, false);
  t.equal(settings.APP_URL, 'https://bell.example.org', 'no slash at the end');
  t.equal(readEnvironment({ PORT: '8080' }).APP_URL, 'http://localhost:8080');
});

/** The lines of a refused start; none when it is not refused. */
function refusals(environment: NodeJS.ProcessEnv, of?: ProcessName): readonly string[] {
  try {
    readEnvironment(environment, of);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.lines;
    throw error;
  }
}

const BAD: [name: string, value: string][] = [
  ['DATABASE_URL', 'mysql://localhost/x'],
  ['DATABASE_SERVER_URL', 'not a url'],
  ['PORT', '70000'],
  ['PORT', '3e3'],
  ['APP_URL', 'bell.example.org'],
  ['CORS_ORIGIN', 'https://app.example.org/path'],
  ['DB_POOL_SIZE', '0'],
  ['DB_POOL_SIZE', '101'],
  ['DB_POOL_SIZE', '1.5'],
  ['LOG_LEVEL', 'loud'],
  ['SMTP_URL', 'http://mail'],
  ['SIGN_IN_LIMIT', '-1'],
  ['TRUST_PROXY_ALLOW_HOP_COUNT', 'yes'],
  ['AUTH_PROVIDERS', 'local,saml'],
  ['AUTH_PROVIDERS', ','],
  ['AUTH_PROVIDERS', 'local, google'],
  ['AUTH_PROVIDERS', 'oidc'],
  ['SLOW_QUERY_MS', '0'],
  ['METRICS_TOKEN', 'short'],
  ['METRICS_TOKEN', 'long enough and blank'],
  ['WORKER_PORT', '-1'],
  ['WEBHOOK_ALLOW', '10.0.0.0/99'],
  ['WEBHOOK_PORTS', '443, 70000'],
  ['WEBHOOK_PORTS', '443, https'],
  ['WEBHOOK_HEADER_PREFIX', 'Co dex'],
];

t.test('each bad variable is one line that begins with its name', async (t) => {
  for (const [name, value] of BAD) {
    try {
      readEnvironment({ [name]: value });
      t.fail(`${name}=${value} was accepted`);
    } catch (error) {
      t.ok(error instanceof ConfigurationError, `${name}=${value}`);
      const lines = (error as ConfigurationError).lines;
      t.equal(lines.length, 1);
      t.match(lines[0], new RegExp(`^${name} .+\\.$`));
    }
  }
});

t.test('all bad variables are named at once, and no password is shown', async (t) => {
  try {
    readEnvironment({ DATABASE_URL: 'mysql://me:hunter2@host/x', PORT: 'x', LOG_LEVEL: 'x' });
    t.fail('was accepted');
  } catch (error) {
    t.equal((error as ConfigurationError).lines.length, 3);
    t.notMatch((error as Error).message, /hunter2/);
  }
});

/** Refused whatever the operator insists on: nobody means what the framework would read. */
const NOT_STANDARD = [
  '010.0.0.0/8',
  '0/1',
  '10/8',
  '10.1',
  '0x0a.0.0.1',
  '10.0.0.0/08',
  '10.0.0.0/255.0.0.0',
  '10.0.0.0/33',
  '0.0.0.0/0',
  '::/0',
  'fe80::1%eth0',
  'proxy.internal',
  '127.0.0.1, 1',
  '127.0.0.1/32/8',
  ',',
  '-1',
];

/** Refused unless the operator insists. */
const UNSAFE = [
  '0',
  '1',
  '17',
  'true',
  '0.0.0.0/1',
  '10.0.0.0/7',
  '::/8',
  '2000::/15',
  'f800::/6',
  'fe80::/9',
  '::/80',
  '::ffff:0:0/95',
  '::ffff:0:0/96',
  '::ffff:10.0.0.0/103',
  '127.0.0.1, 64.0.0.0/2',
];

/** The neighbours of those, and what people write. */
const SAFE = [
  'false',
  '127.0.0.1',
  '::1',
  '::ffff:10.0.0.1',
  '10.0.0.0/8',
  '11.0.0.0/8',
  '2000::/16',
  'fc00::/7',
  'fd00::/8',
  'fe80::/10',
  '1::/80',
  '::/96',
  '::ffff:10.0.0.0/104',
  'loopback',
  'loopback, uniquelocal, 192.0.2.7',
];

t.test('proxies are trusted by address', async (t) => {
  for (const text of NOT_STANDARD) {
    for (const isAllowed of [false, true]) {
      const verdict = readTrustProxy(text, isAllowed);
      // "::/0" and its like are ranges, and "," names none; all of them are no list of proxies.
      t.match(verdict, { refusal: /standard notation|names no proxy/ }, `${text} ${isAllowed}`);
    }
  }
  for (const text of UNSAFE) {
    t.match(readTrustProxy(text, false), { refusal: /TRUST_PROXY_ALLOW_HOP_COUNT=true/ }, text);
    t.notMatch(readTrustProxy(text, true), { refusal: String }, `${text} with the opt-in`);
  }
  for (const text of SAFE) t.notMatch(readTrustProxy(text, false), { refusal: String }, text);
});

t.test('a hop count, every hop and a list arrive as what they are', async (t) => {
  const read = (TRUST_PROXY: string) =>
    readEnvironment({ TRUST_PROXY, TRUST_PROXY_ALLOW_HOP_COUNT: 'true' }).TRUST_PROXY;
  t.equal(read('2'), 2);
  t.equal(read('true'), true);
  t.strictSame(read(' 10.0.0.0/7,::1 '), ['10.0.0.0/7', '::1']);
  for (const TRUST_PROXY_ALLOW_HOP_COUNT of ['false', '', ' ']) {
    t.match(refusals({ TRUST_PROXY: '2', TRUST_PROXY_ALLOW_HOP_COUNT }), [
      /^TRUST_PROXY "2" is a hop count/,
    ]);
  }
});

const ADMIN = {
  ADMIN_USERNAME: 'Root',
  ADMIN_PASSWORD: ' eight to ',
  ADMIN_EMAIL: 'root@example.org',
};
const PRODUCTION = { NODE_ENV: 'production', APP_URL: 'https://bell.example.org' };

t.test('the administrator: all three or none, and all three in production', async (t) => {
  const settings = readEnvironment({ ...PRODUCTION, ...ADMIN });
  t.match(settings, { ...ADMIN, ADMIN_PASSWORD: /^ eight to $/ }, 'blanks are part of a password');
  t.doesNotThrow(() => readEnvironment({}), 'none');
  t.doesNotThrow(() => readEnvironment(ADMIN), 'all three');
  for (const name of Object.keys(ADMIN)) {
    const others = { ...ADMIN, [name]: ' ' };
    t.match(refusals(others), [new RegExp(`^${name} is required with ADMIN_`)]);
    t.match(refusals({ ...PRODUCTION, ...others }), [
      new RegExp(`^${name} is required in production`),
    ]);
  }
  t.equal(refusals(PRODUCTION).length, 3);
  t.doesNotThrow(() => readEnvironment(PRODUCTION, 'worker'), 'a worker has none');
  for (const [name, value] of [
    ['ADMIN_PASSWORD', 'seven77'],
    ['ADMIN_EMAIL', 'root'],
    ['ADMIN_EMAIL', 'Root <root@example.org>'],
    ['ADMIN_EMAIL', 'root\u0007@example.org'],
    ['ADMIN_USERNAME', 'x'.repeat(256)],
    ['ADMIN_USERNAME', 'Ro\u0000ot'],
  ] as const) {
    const lines = refusals({ ...ADMIN, [name]: value });
    t.match(lines, [new RegExp(`^${name} must `)]);
    t.notMatch(lines.join(), /seven77/);
  }
});

t.test('APP_URL: necessary in production, and doubted where it is this machine', async (t) => {
  const production = { NODE_ENV: 'production', ...ADMIN };
  for (const of of ['server', 'worker'] as const) {
    t.match(refusals({ ...production, APP_URL: ' ' }, of), [
      /^APP_URL is required in production: .*address people use/,
    ]);
  }
  t.match(refusals({ ...production, APP_URL: 'ftp://bell.example' }), [
    /^APP_URL "ftp:\/\/bell\.example" is not an http or https URL/,
  ]);
  const read = (APP_URL: string) => readEnvironment({ APP_URL }).APP_URL;
  t.equal(read('HTTPS://Bell.Example.org/'), 'https://bell.example.org', 'as a browser writes it');
  t.equal(read('https:bell.example.org'), 'https://bell.example.org');
  t.equal(read('https://bell.example.org/app/'), 'https://bell.example.org/app', 'with a path');
  for (const behind of ['?', '?a=b', '#', '#top', '/app?x']) {
    t.match(refusals({ APP_URL: `https://bell.example.org${behind}` }), [
      /^APP_URL must be an addr/,
    ]);
  }
  const withUser = refusals({ APP_URL: 'https://me:hunter2@bell.example.org' });
  t.match(withUser, [/^APP_URL must be an address alone/]);
  t.notMatch(withUser.join(), /hunter2/);
  const withScheme = refusals({ APP_URL: 'ftp://me:hunt@er2@bell.example.org' });
  t.match(withScheme, [/^APP_URL "ftp:\/\/…@bell\.example\.org" is not an http/]);
  const doubted = (APP_URL: string, environment = production) =>
    doubts(readEnvironment({ ...environment, APP_URL })).length;
  for (const host of [
    'localhost:3000',
    '127.0.0.1',
    '127.1.2.3:80',
    '[::1]:3000',
    'bell.localhost',
  ]) {
    t.equal(doubted(`http://${host}`), 1, host);
  }
  for (const host of ['localhost.example.org', '128.0.0.1', '[::2]', 'notlocalhost']) {
    t.equal(doubted(`http://${host}`), 0, host);
  }
  t.equal(doubted('http://localhost', { ...production, NODE_ENV: 'development' }), 0);
});

t.test('ways to sign in', async (t) => {
  t.strictSame(readEnvironment({ AUTH_PROVIDERS: ' local, ,local' }).AUTH_PROVIDERS, ['local']);
  const refusal = (AUTH_PROVIDERS: string) => refusals({ AUTH_PROVIDERS }).join();
  t.match(refusal('local,saml'), /^AUTH_PROVIDERS names "saml", which is no way to sign in/);
  t.match(refusal(' , '), /^AUTH_PROVIDERS names no way to sign in/);
  t.match(refusal('local,google'), /^AUTH_PROVIDERS names google, which is not configured/);
});

t.test('removed variables are named and stop nothing', async (t) => {
  const environment = { DB_HOST: 'db.example', DB_PASS: 'hunter2', DB_USER: ' ' };
  const lines = ignoredVariables(environment);
  t.match(lines, [/^DB_HOST is set and not read\. .*DATABASE_URL/, /^DB_PASS /]);
  t.notMatch(lines.join(), /hunter2|db\.example/);
  t.doesNotThrow(() => readEnvironment(environment));
  t.strictSame(ignoredVariables({ DATABASE_URL: 'postgres://x' }), []);
});

t.test('the lines come in the order in which a start refuses', async (t) => {
  const lines = refusals({
    NODE_ENV: 'production',
    DB_POOL_SIZE: '0',
    TRUST_PROXY: '1',
    AUTH_PROVIDERS: ',',
    PORT: 'x',
    LOG_LEVEL: 'x',
  });
  t.strictSame(
    lines.map((line) => line.split(' ')[0]),
    [
      'DB_POOL_SIZE',
      'TRUST_PROXY',
      'ADMIN_USERNAME',
      'ADMIN_PASSWORD',
      'ADMIN_EMAIL',
      'APP_URL',
      'AUTH_PROVIDERS',
      'PORT',
      'LOG_LEVEL',
    ],
  );
});
