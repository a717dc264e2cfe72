import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';

const BIN = fileURLToPath(new URL('../../bin/bellwire.js', import.meta.url));
const PAYLOADS = 329;

t.test('the demo holds in every step and ends with its figures', async (t) => {
  const { ended } = await startDemo(t, ['--json']);
  const { code, stdout, stderr, left } = await ended;
  t.equal(code, 0, `exit code\n${stdout}\n${stderr}`);
  t.strictSame(left, [], 'leaves nothing behind');
  t.notMatch(stdout, /✗/, 'no failed step');
  t.notOk(stdout.includes('\u001b'), 'no colours in a pipe');

  const figures = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
  t.equal(figures.ok, true);
  t.equal(figures.failed, 0);
  t.equal(figures.passed, stdout.match(/✓/g)?.length, 'a tick for each step that passed');
  t.equal(figures.payloadsReplayed + figures.payloadsSkipped, PAYLOADS);
  t.equal(figures.ruleFailures, 0);
  t.equal(figures.webhookRetries, 1);
  const positive = [
    'payloadsReplayed',
    'restCalls',
    'sqlStatements',
    'users',
    'documents',
    'comments',
    'activityEntries',
    'notificationsLive',
    'emails',
    'webhooks',
    'payloadsPerSecond',
  ];
  for (const name of positive) t.ok(figures[name] > 0, `${name} is ${figures[name]}`);
  t.ok(figures.notifications >= figures.notificationsLive, 'live are some of all');
  t.ok(figures.notifications >= figures.emails, 'a letter belongs to a notification');
  t.ok(figures.activityEntries > figures.documents + figures.comments);
});

t.test('Ctrl-C in the middle ends everything and leaves nothing behind', async (t) => {
  const { child, ended, saw } = await startDemo(t, []);
  await saw(/What happened/);
  child.kill('SIGINT');
  const { code, left, stderr } = await ended;
  t.equal(code, 130, stderr);
  t.strictSame(left, []);
});

/** Runs it with a temporary folder of its own; `left` is what is in there afterwards. */
async function startDemo(t: Test, parameters: string[]) {
  const folder = await mkdtemp(path.join(tmpdir(), 'bellwire-demo-test-'));
  // Under root Postgres runs as another user, which has to get to the data.
  await chmod(folder, 0o711);
  const child = spawn(process.execPath, [BIN, 'demo', ...parameters], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(async () => {
    child.kill('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve)).then(
    async (code) => {
      // tsx keeps its translations in the same place.
      const left = (await readdir(folder)).filter((name) => !name.startsWith('tsx-'));
      return { code, stdout, stderr, left };
    },
  );
  const saw = async (pattern: RegExp) => {
    while (!pattern.test(stdout) && child.exitCode === null) await delay(20);
  };
  return { child, ended, saw };
}
