import { randomBytes } from 'node:crypto';
import {
  chown,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import pg from 'pg';
import { canEnter, makeFolder, postgresAccount } from './embedded/account.ts';
import { type Binaries, findBinaries, sharedFolderFor, shortHash } from './embedded/binaries.ts';
import { type Account, runCommand } from './embedded/commands.ts';
import { claimFolder } from './embedded/owner.ts';

/** The database that `adminUrl` names, made when the folder is first used. */
export const DATABASE_NAME = 'bellwire';

const SUPERUSER = 'postgres';
const LOGIN_ROLES = ['bellwire_server', 'bellwire_worker', 'authenticator'] as const;
const MAJOR_VERSION = '18';
const PASSWORD_BYTES = 24;
const START_TIMEOUT_SECONDS = 60;
const STOP_TIMEOUT_SECONDS = 8;
const START_ATTEMPTS = 3;
const MAX_LOG_BYTES = 10 * 1024 * 1024;
const LOG_TAIL_LINES = 15;

/** Only over the loopback, with a password: a socket file would have a path length limit. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: "''",
  password_encryption: 'scram-sha-256',
  max_connections: '200',
  shared_buffers: '256MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** For data nobody will miss. After a crash of the machine the cluster would be unusable. */
const THROW_AWAY_SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

export type EmbeddedRole = typeof SUPERUSER | (typeof LOGIN_ROLES)[number];

export interface EmbeddedOptions {
  /** The folder that holds the cluster, its passwords and its log. Made when missing. */
  dataDir: string;
  /** A port on 127.0.0.1. Without one: the port of the last start if it is free, or any. */
  port?: number;
  /** False for tests and demos: faster, and lost when the machine crashes. Default true. */
  durable?: boolean;
  /** Gets one line about anything a person should know. */
  log?: (line: string) => void;
}

export interface EmbeddedDatabase {
  port: number;
  /** Where the data really is; differs from the option when Postgres could not reach that. */
  dataDir: string;
  /** The superuser's URL, for the database `bellwire`. */
  adminUrl: string;
  /** A role's URL. The login roles' passwords are valid after `setRolePasswords`. */
  urlFor(role: EmbeddedRole, database?: string): string;
  /** Stops Postgres and gives the folder up. May be called twice. */
  stop(): Promise<void>;
}

type Passwords = Record<EmbeddedRole, string>;

/** What every step below needs to know about the cluster. */
interface Cluster {
  folder: string;
  data: string;
  logFile: string;
  account: Account | undefined;
  binaries: Binaries;
  passwords: Passwords;
}

/**
 * Starts the Postgres that came with npm on a data folder, initialising it on first use.
 *
 * Errors are sentences for a person: another process owns the folder, the port is taken, the
 * folder belongs to another major version, or the end of the server's log when it did not start.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const log = options.log ?? (() => {});
  const account = await postgresAccount();
  const folder = await chooseFolder(path.resolve(options.dataDir), account, log);
  const releaseFolder = await claimFolder(folder);
  try {
    const cluster = await prepareCluster(folder, account, log);
    await stopOrphan(cluster, log);
    const port = await startServer(cluster, options);
    try {
      await ensureDatabase(cluster, port);
    } catch (error) {
      await stopServer(cluster);
      throw error;
    }
    return runningDatabase(cluster, port, releaseFolder);
  } catch (error) {
    await releaseFolder();
    throw error;
  }
}

/**
 * Gives the login roles the passwords of this data folder. Roles come from migrations, so call it
 * after each of them; roles that do not exist yet are passed over.
 */
export async function setRolePasswords(database: EmbeddedDatabase): Promise<void> {
  await withClient(database.adminUrl, async (client) => {
    const { rows } = await client.query<{ rolname: EmbeddedRole }>(
      'select rolname from pg_catalog.pg_roles where rolname = any($1)',
      [[...LOGIN_ROLES]],
    );
    for (const { rolname } of rows) {
      const { password } = new URL(database.urlFor(rolname));
      const role = pg.escapeIdentifier(rolname);
      await client.query(`alter role ${role} password ${pg.escapeLiteral(password)}`);
    }
  });
}

/** A port nobody uses right now, chosen by the operating system. */
export async function freePort(): Promise<number> {
  const port = await tryPort(0);
  if (port) return port;
  throw new Error('The operating system has no free port on 127.0.0.1.');
}

function runningDatabase(
  cluster: Cluster,
  port: number,
  releaseFolder: () => Promise<void>,
): EmbeddedDatabase {
  const urlFor = (role: EmbeddedRole, database = DATABASE_NAME) =>
    clusterUrl(cluster, port, role, database);
  let stopping: Promise<void> | undefined;
  return {
    port,
    dataDir: cluster.folder,
    adminUrl: urlFor(SUPERUSER),
    urlFor,
    stop() {
      stopping ??= stopServer(cluster).finally(releaseFolder);
      return stopping;
    },
  };
}

function clusterUrl(cluster: Cluster, port: number, role: EmbeddedRole, database: string): string {
  return `postgres://${role}:${cluster.passwords[role]}@127.0.0.1:${port}/${database}`;
}

async function chooseFolder(
  wanted: string,
  account: Account | undefined,
  log: (line: string) => void,
): Promise<string> {
  await makeFolder(wanted, account);
  if (await canEnter(wanted, account)) return wanted;
  const elsewhere = sharedFolderFor(`data-${shortHash(wanted)}`);
  await makeFolder(elsewhere, account);
  log(`Postgres does not run as root and cannot enter ${wanted}: the data is in ${elsewhere}.`);
  return elsewhere;
}

async function prepareCluster(
  folder: string,
  account: Account | undefined,
  log: (line: string) => void,
): Promise<Cluster> {
  const binaries = await findBinaries(account, folder);
  if (binaries.copiedTo) log(`Postgres runs from a copy in ${binaries.copiedTo}.`);
  const data = path.join(folder, 'postgres');
  const passwords = await readPasswords(folder);
  const logFile = path.join(data, 'server.log');
  const cluster: Cluster = { folder, data, logFile, account, binaries, passwords };
  await initialise(cluster);
  return cluster;
}

/** Reads the folder's passwords, adding those it lacks. The file is for its owner alone. */
async function readPasswords(folder: string): Promise<Passwords> {
  const file = path.join(folder, 'passwords.json');
  const known: Partial<Passwords> = JSON.parse(await readFile(file, 'utf8').catch(() => '{}'));
  const passwords = Object.fromEntries(
    [SUPERUSER, ...LOGIN_ROLES].map((role) => [
      role,
      known[role as EmbeddedRole] ?? randomBytes(PASSWORD_BYTES).toString('base64url'),
    ]),
  ) as Passwords;
  await writePrivately(file, JSON.stringify(passwords, null, 2));
  return passwords;
}

/** Whole or not at all: a half-written password file would lock us out of the data. */
async function writePrivately(file: string, text: string): Promise<void> {
  const unfinished = `${file}.unfinished`;
  await rm(unfinished, { force: true });
  await writeFile(unfinished, `${text}\n`, { mode: 0o600 });
  await rename(unfinished, file);
}

/**
 * Runs initdb once per folder. Two markers tell the states apart: with `initialising` and without
 * `initialised` the last try was cut short and what it left is ours to wipe; a folder with
 * neither was made by someone else and is left alone.
 */
async function initialise(cluster: Cluster): Promise<void> {
  const done = path.join(cluster.folder, 'initialised');
  const begun = path.join(cluster.folder, 'initialising');
  const version = (await readFile(done, 'utf8').catch(() => '')).trim();
  if (version === MAJOR_VERSION) return;
  if (version) {
    throw new Error(
      `The data in ${cluster.folder} was made by Postgres ${version}; this is ${MAJOR_VERSION}. ` +
        'Dump it with the older version and load it into a new folder.',
    );
  }
  const wasBegun = await stat(begun).catch(() => undefined);
  const content = await readdir(cluster.data).catch(() => [] as string[]);
  if (content.length > 0 && !wasBegun) {
    throw new Error(`The folder ${cluster.data} is not empty and not Bellwire's.`);
  }
  await writeFile(begun, '');
  await rm(cluster.data, { recursive: true, force: true });
  await runInitdb(cluster);
  await writePrivately(done, MAJOR_VERSION);
  await rm(begun, { force: true });
}

/**
 * The encoding is UTF-8 with Postgres's built-in C.UTF-8 locale: code point order, full Unicode
 * case rules, and no dependence on the locales the machine happens to have.
 */
async function runInitdb(cluster: Cluster): Promise<void> {
  await mkdir(cluster.data, { mode: 0o700 });
  const passwordFile = path.join(cluster.folder, 'initdb-password');
  await rm(passwordFile, { force: true });
  await writeFile(passwordFile, `${cluster.passwords[SUPERUSER]}\n`, { mode: 0o600 });
  try {
    if (cluster.account) {
      const { uid, gid } = cluster.account;
      await chown(cluster.data, uid, gid);
      await chown(passwordFile, uid, gid);
    }
    const result = await runCommand(
      cluster.binaries.initdb,
      [
        `--pgdata=${cluster.data}`,
        `--username=${SUPERUSER}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--text-search-config=english',
      ],
      cluster.account,
    );
    if (result.code !== 0) throw new Error(`initdb failed: ${result.output}`);
  } finally {
    await rm(passwordFile, { force: true });
  }
}

/**
 * A server that still runs on a folder whose owner is dead was left by a kill -9. It is stopped,
 * not adopted: its port and its settings are those of another start.
 */
async function stopOrphan(cluster: Cluster, log: (line: string) => void): Promise<void> {
  const status = await pgCtl(cluster, ['status']);
  if (status.code !== 0) return;
  log('Postgres was still running from a process that was killed: restarting it.');
  await stopServer(cluster);
}

async function startServer(cluster: Cluster, options: EmbeddedOptions): Promise<number> {
  const portFile = path.join(cluster.folder, 'port');
  const remembered = Number(await readFile(portFile, 'utf8').catch(() => '0'));
  const settings = { ...SETTINGS, ...(options.durable === false ? THROW_AWAY_SETTINGS : {}) };
  await limitLog(cluster.logFile);
  for (let attempt = 1; ; attempt++) {
    const port = await choosePort(options.port, attempt === 1 ? remembered : 0);
    const result = await pgCtl(cluster, [
      `--options=${Object.entries({ ...settings, port })
        .map(setting)
        .join(' ')}`,
      `--log=${cluster.logFile}`,
      `--timeout=${START_TIMEOUT_SECONDS}`,
      '--wait',
      'start',
    ]);
    if (result.code === 0) {
      await writePrivately(portFile, String(port));
      return port;
    }
    // Someone may have taken the port between our look and the server's start.
    const taken = (await tryPort(port)) === undefined;
    if (taken && !options.port && attempt < START_ATTEMPTS) continue;
    throw new Error(
      `Postgres did not start (log: ${cluster.logFile}):\n${await logTail(cluster.logFile)}`,
    );
  }
}

function setting([name, value]: [string, string | number]): string {
  return `-c ${name}=${value}`;
}

/** Stops as `fast` does: open transactions roll back. As `immediate` when that takes too long. */
async function stopServer(cluster: Cluster): Promise<void> {
  const timeout = `--timeout=${STOP_TIMEOUT_SECONDS}`;
  const result = await pgCtl(cluster, ['--mode=fast', timeout, '--wait', 'stop']);
  if (result.code === 0) return;
  const status = await pgCtl(cluster, ['status']);
  if (status.code !== 0) return;
  await pgCtl(cluster, ['--mode=immediate', timeout, '--wait', 'stop']);
}

function pgCtl(cluster: Cluster, parameters: string[]) {
  return runCommand(
    cluster.binaries.pgCtl,
    [`--pgdata=${cluster.data}`, ...parameters],
    cluster.account,
  );
}

async function choosePort(wanted: number | undefined, remembered: number): Promise<number> {
  if (wanted) {
    if (await tryPort(wanted)) return wanted;
    throw new Error(`Port ${wanted} on 127.0.0.1 is in use. Choose another one.`);
  }
  if (remembered && (await tryPort(remembered))) return remembered;
  return freePort();
}

/** Binds the port for a moment. Undefined when it is taken. */
function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(undefined));
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
    });
  });
}

async function limitLog(file: string): Promise<void> {
  const size = (await stat(file).catch(() => undefined))?.size ?? 0;
  if (size > MAX_LOG_BYTES) await truncate(file);
}

async function logTail(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '(no log was written)');
  return text.trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n');
}

async function ensureDatabase(cluster: Cluster, port: number): Promise<void> {
  await withClient(clusterUrl(cluster, port, SUPERUSER, 'postgres'), async (client) => {
    const { rowCount } = await client.query(
      'select 1 from pg_catalog.pg_database where datname = $1',
      [DATABASE_NAME],
    );
    if (rowCount === 0) await client.query(`create database ${DATABASE_NAME}`);
  });
}

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  // A server that goes away under us rejects the query in hand; the event needs no handling.
  client.on('error', () => {});
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
