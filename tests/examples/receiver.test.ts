import { type ChildProcessByStdio, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { newSecret, type Signed, signedRequest } from '../receiver/sign.ts';
import { createDatabase } from '../support/database.ts';
import {
  closedPort,
  deliveriesOf,
  renameArchive,
  setStage,
  startWorker,
  subscribe,
  until,
} from '../worker/support.ts';

const SERVER = path.resolve(import.meta.dirname, '../../examples/receiver/server.js');
const MINUTES_MS = 60_000;

/** The example as whoever copies it runs it: plain Node, no tsx. */
async function startExample(t: Test, secrets: string[], port = 0) {
  const child: ChildProcessByStdio<null, Readable, null> = spawn(process.execPath, [SERVER], {
    env: { PATH: process.env.PATH, PORT: String(port), WEBHOOK_SECRETS: secrets.join(' ') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const url = await until('it listens', () => lines.shift());
  return { url, lines };
}

async function statusOf(url: string, { body, headers }: Signed): Promise<number> {
  const { 'Content-Length': _computed, ...rest } = headers;
  return (await fetch(url, { method: 'POST', body, headers: rest })).status;
}

t.test('what the example makes of requests', async (t) => {
  const [secret, older] = [newSecret(), newSecret()];
  const { url, lines } = await startExample(t, [secret, older]);
  const first = signedRequest(secret, { position: 1 });
  const deleted = { type: 'archive.delete', version: 1, data: { archive_id: 2, name: 'Minutes' } };
  const refusable = signedRequest(secret, {
    id: 'e',
    position: 2,
    body: JSON.stringify({ id: 'e', ...deleted }),
  });
  const fifth = signedRequest(older, { position: 5 });
  const requests: [string, number, Signed][] = [
    ['the first', 200, first],
    ['the first once more', 200, first],
    ['what it does not accept', 422, refusable],
    ['after a gap, by the old secret', 200, fifth],
    ['an older one', 200, signedRequest(secret, { position: 4 })],
    ['changed on the way', 401, { ...first, body: first.body.replace('Minutes', 'Wages') }],
    ['kept for six minutes', 401, signedRequest(secret, { at: Date.now() - 6 * MINUTES_MS })],
    ['by somebody else', 401, signedRequest(newSecret())],
  ];
  for (const [what, status, request] of requests)
    t.equal(await statusOf(url, request), status, what);
  t.equal((await fetch(url.replace('/hooks', '/'))).status, 404);
  const renamed = '“Minutes” is now “Überblick 🚀”';
  await until('it has printed everything', () => lines.length >= 7);
  t.strictSame(lines, [
    `1: ${renamed}`,
    'gap: 3 to 4 are missing',
    `5: ${renamed}`,
    `4: ${renamed}`,
    'refused: bad_signature',
    'refused: too_old',
    'refused: bad_signature',
  ]);
});

t.test('what a worker sends it', async (t) => {
  const database = await createDatabase(t);
  const stage = await setStage(database);
  const port = await closedPort();
  const { id, secret } = await subscribe(database, `http://127.0.0.1:${port}/hooks`);
  const { lines } = await startExample(t, [secret], port);
  await startWorker(t, { databaseUrl: database.workerUrl });
  await renameArchive(database, stage, 'Meeting notes');
  await until('it was delivered', async () =>
    (await deliveriesOf(database, id)).some(({ state }) => state === 'delivered'),
  );
  t.strictSame(lines, ['1: “Notes” is now “Meeting notes”']);
});
