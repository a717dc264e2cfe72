import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { installQueue } from './queue-tables.ts';
import { checkBodies, runScript } from './run-script.ts';
import { readFolder, repeatableFiles } from './sql-files.ts';

const OLDEST_MAJOR_VERSION = 15;

/** The first minor release of each major version without the row-security hole of 2026. */
const FIRST_SAFE_MINOR: Record<number, number> = { 15: 20, 16: 16, 17: 12, 18: 7 };

/** Held on one connection from the first look to the last change. */
const LOCK_NAME = 'bellwire.migrate';

/** Who owns what the files of a folder make; the others belong to the role that migrates. */
const FOLDER_OWNERS: Record<string, string> = {
  functions: 'bellwire_definer',
  policies: 'bellwire_owner',
  triggers: 'bellwire_owner',
  views: 'bellwire_owner',
};

export interface MigrateOptions {
  /** Gets one line per thing done, and warnings. */
  log?: (line: string) => void;
  /** The folder with migrations/, functions/, policies/ and views/. Default: this one. */
  directory?: string;
}

export interface MigrateResult {
  /** Names of the migrations that ran, in order. */
  migrations: string[];
  /** Repeatable files that were applied, relative to the folder, in order. */
  files: string[];
  /** Files that were applied once and are gone. What they made is still in the database. */
  orphaned: string[];
}

/**
 * Brings a database up to date: migrations once each, then every function, policy and view file
 * whose content changed, then the queue's own tables.
 *
 * Migrations and files are one transaction: it all happens or none of it does. A second call at
 * the same time waits for the first and then finds nothing to do.
 *
 * @throws MigrationError naming file and line, when a script fails.
 */
export async function migrate(
  adminUrl: string,
  options: MigrateOptions = {},
): Promise<MigrateResult> {
  const log = options.log ?? (() => {});
  const directory = options.directory ?? path.dirname(fileURLToPath(import.meta.url));
  const client = new pg.Client({ connectionString: adminUrl, application_name: LOCK_NAME });
  // A connection lost in the middle rejects the query in hand; the event needs no handling.
  client.on('error', () => {});
  await client.connect();
  try {
    await checkServerVersion(client, log);
    await client.query('set statement_timeout = 0');
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [LOCK_NAME]);
    const result = await applyScripts(client, directory, log);
    await installQueue(client, adminUrl, log);
    return result;
  } finally {
    // Ends the lock as well.
    await client.end().catch(() => {});
  }
}

async function checkServerVersion(client: pg.Client, log: (line: string) => void): Promise<void> {
  const { rows } = await client.query<{ number: number; text: string }>(
    `select current_setting('server_version_num')::int as number,
            current_setting('server_version') as text`,
  );
  const { number, text } = rows[0] ?? { number: 0, text: 'unknown' };
  const major = Math.floor(number / 10_000);
  if (major < OLDEST_MAJOR_VERSION) {
    throw new Error(`Bellwire needs Postgres ${OLDEST_MAJOR_VERSION} or newer; this is ${text}.`);
  }
  const safeMinor = FIRST_SAFE_MINOR[major];
  if (safeMinor !== undefined && number % 10_000 < safeMinor) {
    log(
      `warning: Postgres ${text} has a known hole in row-level security; ` +
        `upgrade to ${major}.${safeMinor} or newer.`,
    );
  }
}

async function applyScripts(
  client: pg.Client,
  directory: string,
  log: (line: string) => void,
): Promise<MigrateResult> {
  await client.query('begin');
  try {
    const migrations = await applyMigrations(client, directory);
    for (const name of migrations) log(`migration ${name}`);
    const { files, orphaned } = await applyFiles(client, directory);
    for (const file of files) log(`applied ${file}`);
    if (files.some(isOfGenerator)) await retrackTables(client, log);
    for (const file of orphaned) log(`warning: ${file} was applied once and is gone`);
    await client.query('commit');
    return { migrations, files, orphaned };
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/**
 * Runs the pending migrations inside the transaction that is open already.
 *
 * node-pg-migrate would begin and commit its own; with `singleTransaction` it sends exactly
 * BEGIN, COMMIT and ROLLBACK, which the connection handed to it leaves out. Its lock is left out
 * too: ours is held.
 */
async function applyMigrations(client: pg.Client, directory: string): Promise<string[]> {
  const folder = path.join(directory, 'migrations');
  const scripts = await readFolder(folder, 'migrations');
  const byText = new Map(scripts.map((script) => [script.text, script]));
  const borrowed = {
    query: (query: string | { text: string }, values?: unknown[]) => {
      const text = typeof query === 'string' ? query : query.text;
      if (/^(begin|commit|rollback)$/i.test(text)) return Promise.resolve({ rows: [] });
      // It closes a script that does not end in a semicolon with one.
      const script = byText.get(text) ?? byText.get(text.slice(0, -1));
      return script ? runScript(client, directory, script) : client.query(text, values);
    },
  };
  const silent = () => {};
  const done = await runner({
    dbClient: borrowed as unknown as pg.ClientBase,
    dir: folder,
    ignorePattern: '.*(?<!\\.sql)',
    direction: 'up',
    migrationsTable: 'schema_migrations',
    migrationsSchema: 'bellwire',
    createMigrationsSchema: true,
    singleTransaction: true,
    noLock: true,
    logger: { debug: silent, info: silent, warn: silent, error: silent },
  });
  return done.map((migration) => migration.name);
}

async function applyFiles(
  client: pg.Client,
  directory: string,
): Promise<Pick<MigrateResult, 'files' | 'orphaned'>> {
  await client.query(
    `create table if not exists bellwire.applied_files (
       path text primary key,
       sha256 text not null,
       applied_at timestamptz not null default now()
     );
     comment on table bellwire.applied_files is 'Which text of each repeatable file is in force.';
     comment on table bellwire.schema_migrations is 'Which migrations have run.'`,
  );
  const { rows } = await client.query<{ path: string; sha256: string }>(
    'select path, sha256 from bellwire.applied_files order by path',
  );
  const applied = new Map(rows.map((row) => [row.path, row.sha256]));
  const present = await repeatableFiles(directory);
  const edited = present.filter((file) => applied.get(file.path) !== file.sha256);
  // The track() calls are made again when what they generate has changed.
  const isGeneratorEdited = edited.some((file) => isOfGenerator(file.path));
  const changed = present.filter(
    (file) => edited.includes(file) || (isGeneratorEdited && file.path.startsWith('suite/')),
  );
  for (const file of changed) {
    // A function may name another one whose file comes later.
    await client.query('set local check_function_bodies = off');
    await becomeOwner(client, file.path);
    await runScript(client, directory, file);
    // What one file switched must not carry over to the next.
    await client.query('reset role; reset search_path');
    await client.query(
      `insert into bellwire.applied_files (path, sha256) values ($1, $2)
       on conflict (path) do update set sha256 = excluded.sha256, applied_at = now()`,
      [file.path, file.sha256],
    );
  }
  await checkBodies(client, directory, present);
  const names = new Set(present.map((file) => file.path));
  return {
    files: changed.map((file) => file.path),
    orphaned: [...applied.keys()].filter((name) => !names.has(name)),
  };
}

function isOfGenerator(file: string): boolean {
  return file.startsWith('functions/track/');
}

/**
 * Makes the generated functions of the application's own tables again; the suite's have just been
 * made by its file. One that cannot be made again goes on with what it has: it must not cost the
 * others the upgrade, so it is a warning here and a row of rule_failures.
 */
async function retrackTables(client: pg.Client, log: (line: string) => void): Promise<void> {
  const { rows } = await client.query<{ table: string; problem: string | null }>(
    `select made.table_name::text as table, made.problem
       from (select distinct table_name from bellwire.tracked_tables where created_at < now()) as known
      cross join lateral bellwire.retrack(known.table_name, with_rows => false) as made`,
  );
  for (const { table, problem } of rows) {
    log(
      problem === null
        ? `tracked ${table} again`
        : `warning: ${table} could not be tracked again and goes on as before: ${problem}`,
    );
  }
}

/**
 * What a file makes belongs to the role its folder names: SECURITY DEFINER functions run as their
 * owner, so that owner is never the role that happens to migrate. Undone by `reset role`.
 */
async function becomeOwner(client: pg.Client, file: string): Promise<void> {
  const folder = file.slice(0, file.indexOf('/'));
  const owner = FOLDER_OWNERS[folder];
  if (owner === undefined) return;
  const { rows } = await client.query('select from pg_catalog.pg_roles where rolname = $1', [
    owner,
  ]);
  if (rows.length > 0) await client.query(`set local role ${owner}`);
}
