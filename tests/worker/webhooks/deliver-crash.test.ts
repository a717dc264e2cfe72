import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { renameArchive, setStage, startReceiver, subscribe, until } from '../support.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/bellwire.js', import.meta.url));
const RECEIVERS = 4;
const EVENTS = 40;
const ANSWER_AFTER_MS = 10;

async function startProcess(t: Test, database: TestDatabase): Promise<ChildProcess> {
  const child = spawn(process.execPath, [PROGRAM, 'worker'], {
    env: {
      ...process.env,
      DATABASE_WORKER_URL: database.workerUrl,
      WEBHOOK_ALLOW: '127.0.0.1',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await until('the worker has started', () => said.includes('worker started'));
  return child;
}

t.test('a worker killed in the middle of its runs: everything arrives, in order', async (t) => {
  const database = await createDatabase(t);
  const stage = await setStage(database);
  // So that the leases of the dead worker lapse while we wait.
  await database.admin.query(
    "update bellwire.settings set value = 2 where name = 'webhook_lease_seconds'",
  );
  const receiver = await startReceiver(t, (_request, response) => {
    setTimeout(() => response.writeHead(204).end(), ANSWER_AFTER_MS);
  });
  for (let index = 0; index < RECEIVERS; index += 1)
    await subscribe(database, receiver.url.replace('hook', `${index}`));
  const doomed = await startProcess(t, database);
  const heir = await startProcess(t, database);
  // Both begin when everything is there, the doomed one first.
  doomed.kill('SIGSTOP');
  heir.kill('SIGSTOP');
  for (let index = 1; index <= EVENTS; index += 1)
    await renameArchive(database, stage, `Name ${index}`);
  doomed.kill('SIGCONT');
  await until('it is sending', () => receiver.received.length >= RECEIVERS);
  heir.kill('SIGCONT');
  await until('it is in the middle', () => receiver.received.length >= RECEIVERS * 5);
  const atKill = receiver.received.length;
  doomed.kill('SIGKILL');
  await once(doomed, 'exit');
  t.ok(atKill < RECEIVERS * EVENTS, `${atKill} had arrived`);
  await until('all are delivered', async () => {
    const { rows } = await database.admin.query(
      "select count(*)::int as count from bellwire.webhook_deliveries where state <> 'delivered'",
    );
    return rows[0].count === 0;
  });

  let repeated = 0;
  for (let index = 0; index < RECEIVERS; index += 1) {
    const positions = receiver.received
      .filter(({ path }) => path === `/${index}`)
      .map(({ headers }) => Number(headers['x-codex-position']));
    const sorted = [...positions].sort((left, right) => left - right);
    t.strictSame(positions, sorted, 'never an older one after a newer one');
    t.equal(new Set(positions).size, EVENTS, 'each at least once');
    repeated += positions.length - EVENTS;
  }
  t.ok(repeated <= RECEIVERS, `${repeated} twice: at most the one in flight of each`);
});
