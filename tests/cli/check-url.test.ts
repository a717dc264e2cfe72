import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const BIN = fileURLToPath(new URL('../../bin/bellwire.js', import.meta.url));

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

function checkUrl(parameters: string[], environment = {}): Promise<Run> {
  const { PATH, HOME } = process.env;
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [BIN, 'check-url', ...parameters],
      { env: { PATH, HOME, ...environment } },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

t.test('a line per URL with the decision and why', async (t) => {
  const { code, stdout, stderr } = await checkUrl([
    'https://example.com/hooks',
    'http://0x7f.1/',
    'http://example.com:22/',
    'http://\u001b[2J.example/',
    '--answers',
    '93.184.216.34, 2606:4700:4700::1111',
  ]);
  t.strictSame(stdout.split('\n'), [
    'allowed     https://example.com/hooks  connects to 93.184.216.34, 2606:4700:4700::1111',
    'refused     http://0x7f.1/  127.0.0.1 is not a public address: 127.0.0.0/8 (loopback).',
    'refused     http://example.com:22/  Port 22 is not allowed.',
    'refused     http://\\u001b[2J.example/  The address is not a valid URL.',
    '',
  ]);
  t.strictSame({ code, stderr }, { code: 1, stderr: '' });
});

t.test(
  '0 where everything would be sent to; a name without an answer is no such thing',
  async (t) => {
    const [allowed, unresolved] = await Promise.all([
      checkUrl(['https://example.com/', '--answers', '10.0.0.5', '--allow', '10.0.0.0/8']),
      checkUrl(['https://example.com/', '--answers', '']),
    ]);
    t.match(allowed, { code: 0, stdout: /^allowed .* connects to 10\.0\.0\.5\n$/ });
    t.equal(unresolved.code, 1);
    t.match(unresolved.stdout, /^unresolved .* has no address\. A send would be tried again\.\n$/);
  },
);

t.test('the environment counts, and an option in its place', async (t) => {
  const environment = {
    WEBHOOK_ALLOW: 'hooks.lan:25',
    WEBHOOK_PORTS: '443',
    // What the guard does not need is not looked at.
    PORT: 'nonsense',
  };
  const urls = ['http://hooks.lan:25/', 'http://hooks.lan:8080/', 'https://example.com/'];
  const parameters = [...urls, '--json', '--answers', '93.184.216.34'];
  const [plain, changed] = await Promise.all([
    checkUrl(parameters, environment),
    checkUrl([...parameters, '--allow', '', '--ports', '8080'], environment),
  ]);
  const read = (run: Run) =>
    run.stdout
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text));
  const addresses = ['93.184.216.34'];
  t.strictSame(read(plain), [
    { url: urls[0], verdict: 'allowed', addresses },
    { url: urls[1], verdict: 'refused', reason: 'Port 8080 is not allowed.' },
    { url: urls[2], verdict: 'allowed', addresses },
  ]);
  t.strictSame(
    read(changed).map(({ reason }) => reason),
    ['Port 25 is not allowed.', 'hooks.lan is a private name.', 'Port 443 is not allowed.'],
  );
});

t.test('2 where nothing was checked', async (t) => {
  const [none, option, environment, help] = await Promise.all([
    checkUrl([]),
    checkUrl(['https://example.com/', '--allow', '10.0.0.0/99']),
    checkUrl(['https://example.com/'], { WEBHOOK_PORTS: '443, http' }),
    checkUrl(['--help']),
  ]);
  t.match(none, { code: 2, stdout: '', stderr: /missing required argument/ });
  t.match(option, { code: 2, stdout: '' });
  t.match(option.stderr, /^WEBHOOK_ALLOW has "10\.0\.0\.0\/99" is neither .+\.\n$/);
  t.match(environment, { code: 2, stdout: '' });
  t.match(environment.stderr, /^WEBHOOK_PORTS has "http" is neither .+\.\n$/);
  t.equal(help.code, 0);
  for (const part of ['Examples:', '--answers', 'Exit codes: 0']) t.match(help.stdout, part);
});
