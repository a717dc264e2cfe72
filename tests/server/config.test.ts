import { readFileSync } from 'node:fs';
import t from 'tap';
import { CONTRACT } from '../../config/contract.ts';
import { ConfigurationError, readEnvironment } from '../../config/read.ts';

t.test('.env.example lists the contract, no more and no less', async (t) => {
  const example = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
  const listed = [...example.matchAll(/^#?([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, name, value]) => ({
    name,
    value,
  }));
  const contract = CONTRACT.map((variable) => ({
    name: variable.name,
    value: String(variable.default ?? ''),
  }));
  t.same(listed, contract);
});

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
  t.same(settings.TRUST_PROXY, []);
  t.equal(settings.APP_URL, 'https://bell.example.org', 'no slash at the end');
  t.equal(readEnvironment({ PORT: '8080' }).APP_URL, 'http://localhost:8080');
});

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
  ['TRUST_PROXY', 'true'],
  ['TRUST_PROXY', '1'],
  ['TRUST_PROXY', '0.0.0.0/0'],
  ['TRUST_PROXY', '10.0.0.0/7'],
  ['TRUST_PROXY', '::/8'],
  ['TRUST_PROXY', '010.0.0.1/8'],
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
