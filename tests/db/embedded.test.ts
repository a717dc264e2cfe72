import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import t, { type Test } from 'tap';
import { type EmbeddedDatabase, setRolePasswords, startEmbedded } from '../../db/embedded.ts';

t.test('starts, keeps its data and its port, and stops', async (t) => {
  const dataDir = await folder(t);
  const first = await start(t, dataDir);
  await query(first.adminUrl, 'create table kept as select 42 as answer');
  await first.stop();
  await t.rejects(query(first.adminUrl, 'select 1'), { code: 'ECONNREFUSED' }, 'it is stopped');
  await first.stop();
  t.pass('a second stop is harmless');

  const second = await start(t, dataDir);
  t.equal(second.port, first.port, 'the port is the same');
  t.strictSame(await query(second.adminUrl, 'select answer from kept'), [{ answer: 42 }]);
});

t.test('listens on the loopback, with passwords, and knows Unicode', async (t) => {
  const dataDir = await folder(t);
  const database = await start(t, dataDir);
  const wrong = new URL(database.adminUrl);
  wrong.password = 'wrong';
  await t.rejects(query(wrong.toString(), 'select 1'), { code: '28P01' });
  t.strictSame(await query(database.adminUrl, 'show listen_addresses'), [
    { listen_addresses: '127.0.0.1' },
  ]);
  t.strictSame(await query(database.adminUrl, "select lower('ÄÉ') as lower"), [{ lower: 'äé' }]);
  const { mode } = await stat(path.join(dataDir, 'passwords.json'));
  t.equal(mode & 0o777, 0o600, 'the passwords are for their owner alone');
  await query(database.adminUrl, 'create role bellwire_server login');
  await setRolePasswords(database);
  t.strictSame(await query(database.urlFor('bellwire_server'), 'select current_user as name'), [
    { name: 'bellwire_server' },
  ]);
});

t.test('refuses a second owner and names the first', async (t) => {
  const dataDir = await folder(t);
  await start(t, dataDir);
  await t.rejects(startEmbedded({ dataDir }), { message: new RegExp(`process ${process.pid}\\b`) });
});

t.test('of several starts at once exactly one succeeds', async (t) => {
  const dataDir = await folder(t);
  const attempts = await Promise.allSettled(
    Array.from({ length: 4 }, () => startEmbedded({ dataDir, durable: false })),
  );
  const started = attempts.filter((attempt) => attempt.status === 'fulfilled');
  t.equal(started.length, 1);
  for (const attempt of started) await attempt.value.stop();
});

t.test('refuses a port that is taken', async (t) => {
  const first = await start(t, await folder(t));
  const dataDir = await folder(t);
  await t.rejects(startEmbedded({ dataDir, port: first.port }), {
    message: `Port ${first.port} on 127.0.0.1 is in use. Choose another one.`,
  });
});

t.test('an initdb that was cut short is done again', async (t) => {
  const dataDir = await folder(t);
  await makeOpenFolder(dataDir);
  await mkdir(path.join(dataDir, 'postgres'));
  await writeFile(path.join(dataDir, 'initialising'), '');
  await writeFile(path.join(dataDir, 'postgres', 'PG_VERSION'), '18\n');
  const database = await start(t, dataDir);
  t.strictSame(await query(database.adminUrl, 'select 1 as one'), [{ one: 1 }]);
});

t.test("a folder that is not Bellwire's is left alone", async (t) => {
  const dataDir = await folder(t);
  const precious = path.join(dataDir, 'postgres', 'precious');
  await makeOpenFolder(dataDir);
  await mkdir(path.dirname(precious));
  await writeFile(precious, 'mine');
  await t.rejects(startEmbedded({ dataDir }), { message: /is not empty and not Bellwire's/ });
  t.equal(await readFile(precious, 'utf8'), 'mine');
});

t.test('takes over from a process that was killed', async (t) => {
  const dataDir = await folder(t);
  const module = fileURLToPath(new URL('../../db/embedded.ts', import.meta.url));
  const script = `
    const { startEmbedded } = await import(${JSON.stringify(module)});
    const database = await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, durable: false });
    console.log(database.adminUrl);
    process.kill(process.pid, 'SIGKILL');`;
  const parameters = ['--import', 'tsx', '--input-type=module', '--eval', script];
  const killed = await promisify(execFile)(process.execPath, parameters).catch((error) => error);
  const orphanUrl = String(killed.stdout).trim();
  t.strictSame(await query(orphanUrl, 'select 1 as one'), [{ one: 1 }], 'its server runs on');
  const lines: string[] = [];
  const database = await startEmbedded({
    dataDir,
    durable: false,
    log: (line) => lines.push(line),
  });
  t.teardown(() => database.stop());
  t.match(lines.join('\n'), /was killed: restarting it/);
  t.strictSame(await query(database.adminUrl, 'select 1 as one'), [{ one: 1 }]);
});

async function folder(t: Test): Promise<string> {
  const created = await mkdtemp(path.join(tmpdir(), 'bellwire-embedded-'));
  await makeOpenFolder(created);
  t.teardown(() => rm(created, { recursive: true, force: true }));
  return path.join(created, 'data');
}

/** Under root Postgres runs as another user, which has to get to the data. */
async function makeOpenFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o711);
}

async function start(t: Test, dataDir: string): Promise<EmbeddedDatabase> {
  const database = await startEmbedded({ dataDir, durable: false });
  t.teardown(() => database.stop());
  return database;
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
