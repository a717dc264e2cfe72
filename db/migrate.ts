import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Logger, runMigrations } from 'graphile-worker';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { lineAt, statementStarts } from './sql-text.ts';
import { urlWithRole } from './urls.ts';

const OLDEST_MAJOR_VERSION = 15;

/** The first minor release of each major version without the row-security hole of 2026. */
const FIRST_SAFE_MINOR: Record<number, number> = { 15: 20, 16: 16, 17: 12, 18: 7 };

/** Held on one connection from the first look to the last change. */
const LOCK_NAME = 'bellwire.migrate';

const WORKER_ROLE = 'bellwire_worker';
const QUEUE_SCHEMA = 'graphile_worker';

/** Folders of db/functions in the order of who calls whom; others follow by name. */
const FIRST_AREAS = [
  'access',
  'identity',
  'activity',
  'watches',
  'notifications',
  'outbox',
  'email',
  'track',
];

/** Who owns what the files of a folder make; the others belong to the role that migrates. */
const FOLDER_OWNERS: Record<string, string> = {
  functions: 'bellwire_definer',
  policies: 'bellwire_owner',
  triggers: 'bellwire_owner',
  views: 'bellwire_owner',
};

/** Applied after the views its functions return. */
const LAST_AREA = 'api';

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

interface SqlFile {
  /** Relative to the db folder, with forward slashes: its name in `applied_files`. */
  path: string;
  text: string;
  sha256: string;
}

/** A script that failed: says where, and carries Postgres's error as its cause. */
export class MigrationError extends Error {
  override name = 'MigrationError';
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

/** All repeatable files in the order in which they may rely on each other. */
async function repeatableFiles(directory: string): Promise<SqlFile[]> {
  const areas = (
    await readdir(path.join(directory, 'functions'), { withFileTypes: true }).catch(noFolder)
  )
    .filter((entry) => entry.isDirectory() && entry.name !== LAST_AREA)
    .map((entry) => entry.name)
    .sort((left, right) => areaRank(left) - areaRank(right) || compareNames(left, right));
  const folders = [
    ...areas.map((area) => `functions/${area}`),
    'policies',
    'triggers',
    'views',
    `functions/${LAST_AREA}`,
    'suite',
  ];
  const files: SqlFile[] = [];
  for (const folder of folders)
    files.push(...(await readFolder(path.join(directory, folder), folder)));
  return files;
}

function areaRank(area: string): number {
  const rank = FIRST_AREAS.indexOf(area);
  return rank < 0 ? FIRST_AREAS.length : rank;
}

/** By code point: the same order on every machine, whatever its locale. */
function compareNames(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The .sql files of one folder by name; none when the folder does not exist. */
async function readFolder(folder: string, prefix: string): Promise<SqlFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(noFolder);
  const names = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.sql'))
    .map((entry) => entry.name)
    .sort(compareNames);
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(path.join(folder, name), 'utf8');
      const sha256 = createHash('sha256').update(text).digest('hex');
      return { path: `${prefix}/${name}`, text, sha256 };
    }),
  );
}

function noFolder(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

async function runScript(client: pg.Client, directory: string, file: SqlFile) {
  // A script is one simple query; how many of its statements completed tells which one failed.
  let completed = 0;
  const count = () => completed++;
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
  connection.on('commandComplete', count);
  try {
    return await client.query(file.text);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    const statement = statementStarts(file.text)[completed] ?? 0;
    // Postgres counts characters from 1; only a few errors have a position.
    const place = error.position ? unitsBefore(file.text, Number(error.position) - 1) : statement;
    throw scriptError(error, directory, file, place);
  } finally {
    connection.off('commandComplete', count);
  }
}

/**
 * Checks the bodies of the functions this transaction made, now that everything they name exists.
 * They were created unchecked, and a misspelt column is better found here than by a user.
 */
async function checkBodies(client: pg.Client, directory: string, files: SqlFile[]): Promise<void> {
  await client.query('set local check_function_bodies = on');
  const { rows } = await client.query<{ oid: string; source: string; validator: string }>(
    `select p.oid::text as oid, p.prosrc as source, l.lanvalidator::regproc::text as validator
       from pg_catalog.pg_proc p
       join pg_catalog.pg_language l on l.oid = p.prolang
      where l.lanname in ('sql', 'plpgsql')
        and p.prosqlbody is null
        and p.xmin = pg_current_xact_id()::xid
      order by p.oid`,
  );
  for (const { oid, source, validator } of rows) {
    try {
      await client.query(`select ${validator}($1::oid)`, [oid]);
    } catch (error) {
      const file = files.find((candidate) => candidate.text.includes(source));
      if (!(error instanceof pg.DatabaseError) || !file) throw error;
      const inside = Math.max(Number(error.internalPosition ?? 1) - 1, 0);
      const query = error.internalQuery ?? '';
      const start = file.text.indexOf(query && source.includes(query) ? query : source);
      throw scriptError(error, directory, file, start + unitsBefore(query || source, inside));
    }
  }
}

/** How many UTF-16 units the first characters (code points) of a text take. */
function unitsBefore(text: string, characters: number): number {
  return Array.from(text).slice(0, characters).join('').length;
}

function scriptError(
  error: pg.DatabaseError,
  directory: string,
  file: SqlFile,
  place: number,
): MigrationError {
  const absolute = path.join(directory, file.path);
  const relative = path.relative(process.cwd(), absolute);
  const name = relative.startsWith('..') ? absolute : relative;
  const lines = [`${name}:${lineAt(file.text, place)}: ${error.message}`];
  if (error.detail) lines.push(`  detail: ${error.detail}`);
  if (error.hint) lines.push(`  hint: ${error.hint}`);
  if (error.where) lines.push(`  where: ${error.where.replaceAll('\n', '\n         ')}`);
  return new MigrationError(lines.join('\n'), { cause: error });
}

/**
 * Installs or updates graphile-worker's tables. They have row security without policies, so they
 * must belong to the role that uses them: its migrations run as the worker, which may create a
 * schema for just as long as that takes.
 */
async function installQueue(
  client: pg.Client,
  adminUrl: string,
  log: (line: string) => void,
): Promise<void> {
  const { rows } = await client.query<{ role: boolean; installed: boolean; database: string }>(
    `select exists (select from pg_catalog.pg_roles where rolname = $1) as role,
            to_regclass($2 || '.migrations') is not null as installed,
            current_database() as database`,
    [WORKER_ROLE, QUEUE_SCHEMA],
  );
  const { role, installed, database } = rows[0] ?? { role: false, installed: false, database: '' };
  if (!role) {
    log(`warning: there is no role ${WORKER_ROLE}, so the queue was not installed`);
    return;
  }
  const privilege = `create on database ${pg.escapeIdentifier(database)}`;
  // It says `create schema if not exists`, which asks for the right even when the schema exists.
  if (!installed) await client.query(`grant ${privilege} to ${WORKER_ROLE}`);
  try {
    await migrateQueue(adminUrl);
  } finally {
    // Also what an earlier run left behind when it was killed in between.
    await client.query(
      `do $$ begin
         if has_database_privilege('${WORKER_ROLE}', current_database(), 'create') then
           revoke ${privilege} from ${WORKER_ROLE};
         end if;
       end $$`,
    );
  }
}

async function migrateQueue(adminUrl: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: urlWithRole(adminUrl, WORKER_ROLE), max: 2 });
  // A lost connection rejects the query in hand; graphile-worker asks for both handlers.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  try {
    await runMigrations({
      pgPool: pool,
      schema: QUEUE_SCHEMA,
      logger: new Logger(() => () => {}),
    });
  } finally {
    await pool.end();
  }
}
