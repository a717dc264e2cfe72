/**
 * What `npm test` runs: one throw-away Postgres, one migrated template database, and every test
 * file with databases of its own; files that load the same modules share a process.
 *
 *   npm test                                 all of tests/**\/*.test.ts
 *   npm test -- tests/sql/notify.test.ts     only these files (or folders)
 *
 * The files are written with tap. They are run from here rather than by tap's command, which
 * would translate TypeScript by a second compiler, at more than a second per file.
 */
import type { ChildProcess } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { setRolePasswords, startEmbedded } from '../../db/embedded.ts';
import { migrate } from '../../db/migrate.ts';
import { createStageTemplate } from '../sql/stage-template.ts';
import { makeBatches } from './batches.ts';
import { type TestEnvironment, testProcessEnvironment } from './environment.ts';
import { type FileResult, runTestFiles } from './test-file.ts';

const RESULTS_FOLDER = '.tap';
/** Somewhat more than there are processors: some tests mostly wait. */
const BATCHES_AT_ONCE = Math.ceil(availableParallelism() * 1.5);
const MEMORY_FOLDER = '/dev/shm';
const ENOUGH_MEMORY_BYTES = 4 * 1024 ** 3;
const INTERRUPTED_CODE = 130;

type Undo = () => Promise<void>;

const undo: Undo[] = [];
const children = new Set<ChildProcess>();
let interrupted = false;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interrupted = true;
    for (const child of children) child.kill('SIGTERM');
  });
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  return 1;
});

async function main(wanted: string[]): Promise<number> {
  const files = await findTestFiles(wanted.length > 0 ? wanted : ['tests']);
  const started = Date.now();
  let results: FileResult[] = [];
  try {
    const environment = await startTestServer();
    results = await runAll(files, testProcessEnvironment(environment));
  } finally {
    for (const step of undo.reverse()) await step();
  }
  if (interrupted) return INTERRUPTED_CODE;
  return summarise(results, (Date.now() - started) / 1000);
}

/** The files named, and in folders every *.test.ts, once each, by name. */
async function findTestFiles(wanted: string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const name of wanted) {
    const information = await stat(name).catch(() => undefined);
    if (!information) throw new Error(`There is no test file or folder ${name}.`);
    if (!information.isDirectory()) {
      found.add(path.normalize(name));
      continue;
    }
    for (const entry of await readdir(name, { recursive: true })) {
      if (entry.endsWith('.test.ts')) found.add(path.join(name, entry));
    }
  }
  return [...found].sort();
}

async function startTestServer(): Promise<TestEnvironment> {
  const folder = await mkdtemp(path.join(await quickFolder(), 'bellwire-test-'));
  undo.push(() => rm(folder, { recursive: true, force: true }));
  // Under root Postgres runs as another user, which has to get to the data.
  await chmod(folder, 0o711);
  const database = await startEmbedded({
    dataDir: path.join(folder, 'data'),
    durable: false,
    log: console.error,
  });
  // Where it could not get there all the same, the data is elsewhere.
  undo.push(() => rm(database.dataDir, { recursive: true, force: true }));
  undo.push(() => database.stop());
  await quieten(database.adminUrl);
  await migrate(database.adminUrl);
  await setRolePasswords(database);
  const urls = {
    adminUrl: database.adminUrl,
    serverUrl: database.urlFor('bellwire_server'),
    workerUrl: database.urlFor('bellwire_worker'),
    authenticatorUrl: database.urlFor('authenticator'),
  };
  const template = new URL(database.adminUrl).pathname.slice(1);
  return { ...urls, template, stage: await createStageTemplate(urls, template) };
}

/**
 * In memory where there is enough of it: most of the time of making and dropping databases, a few
 * hundred files each, is the file system's.
 */
async function quickFolder(): Promise<string> {
  const inMemory = await statfs(MEMORY_FOLDER).catch(() => undefined);
  const free = inMemory ? inMemory.bavail * inMemory.bsize : 0;
  return free >= ENOUGH_MEMORY_BYTES ? MEMORY_FOLDER : tmpdir();
}

/** Hundreds of databases that live for seconds: what a server does for the long run is lost on them. */
async function quieten(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('alter system set autovacuum = off');
  await client.query("alter system set checkpoint_timeout = '1h'");
  await client.query("alter system set max_wal_size = '1GB'");
  await client.query('select pg_reload_conf()');
  await client.end();
}

/** Some at once, until none is left. */
async function runAll(files: string[], environment: NodeJS.ProcessEnv): Promise<FileResult[]> {
  await rm(RESULTS_FOLDER, { recursive: true, force: true });
  const waiting = await makeBatches(files);
  const results: FileResult[] = [];
  const takeTurns = async () => {
    for (let batch = waiting.shift(); batch && !interrupted; batch = waiting.shift()) {
      let running: ChildProcess | undefined;
      const finished = await runTestFiles(batch, RESULTS_FOLDER, environment, (child) => {
        running = child;
        children.add(child);
      });
      if (running) children.delete(running);
      results.push(...finished);
      if (!interrupted) for (const result of finished) report(result);
    }
  };
  await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, takeTurns));
  return results;
}

function report(result: FileResult): void {
  const { file, passed, failed, skipped, seconds } = result;
  const counts = [`${passed} passed`];
  if (failed > 0) counts.push(`${failed} failed`);
  if (skipped > 0) counts.push(`${skipped} skipped`);
  console.log(`${failed > 0 ? '✗' : '✓'} ${file}  ${counts.join(', ')}  ${seconds.toFixed(1)} s`);
  for (const failure of result.failures) console.log(indent(`✗ ${failure}`));
  if (failed > 0 && result.stderr) console.log(indent(`standard error:\n${result.stderr}`));
}

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, '    ');
}

async function summarise(results: FileResult[], seconds: number): Promise<number> {
  const total = (key: 'passed' | 'failed' | 'skipped') =>
    results.reduce((sum, result) => sum + result[key], 0);
  const counts = {
    passed: total('passed'),
    failed: total('failed'),
    skipped: total('skipped'),
    files: results.length,
    seconds,
  };
  await writeFile(path.join(RESULTS_FOLDER, 'results.json'), `${JSON.stringify(counts)}\n`);
  console.log(
    `\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped ` +
      `in ${counts.files} files, ${seconds.toFixed(1)} s`,
  );
  return counts.failed === 0 && results.length > 0 ? 0 : 1;
}
