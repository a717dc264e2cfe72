import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Test } from 'tap';
import { urlWithDatabase } from '../../db/urls.ts';
import { readTestEnvironment, type ServerUrls } from './environment.ts';

/** Few each: all test files together share the server's 200 connections. */
const POOL_CONNECTIONS = 8;

type Use<T> = (client: pg.PoolClient) => Promise<T>;

export interface TestDatabase {
  name: string;
  adminUrl: string;
  serverUrl: string;
  workerUrl: string;
  authenticatorUrl: string;
  /** The superuser, for setting the stage. Row security does not bind it. */
  admin: pg.Pool;
  /** A signed-in person: the server's connection, switched to `authenticated` with claims. */
  asUser<T>(id: number | string, use: Use<T>): Promise<T>;
  /** Nobody: the server's connection, switched to `anon`. */
  asAnonymous<T>(use: Use<T>): Promise<T>;
  /** A service token: the server's connection, switched to `service` with these claims. */
  asService<T>(claims: Record<string, unknown>, use: Use<T>): Promise<T>;
  /** The worker's own login. */
  asWorker<T>(use: Use<T>): Promise<T>;
  /** The server's own login, before it becomes anyone. */
  asServer<T>(use: Use<T>): Promise<T>;
  /** The owner of the tables, whom row security binds too. */
  asOwner<T>(use: Use<T>): Promise<T>;
  /** A database administrator: the role `bellwire_admin`. */
  asAdministrator<T>(use: Use<T>): Promise<T>;
}

/**
 * A database of the test's own, cloned from the migrated template and dropped when the test ends.
 *
 * Each `as…` runs its function in one transaction under a role that is really switched: it commits
 * when the function resolves and rolls back when it throws.
 */
export async function createDatabase(
  t: Test,
  template = readTestEnvironment().template,
): Promise<TestDatabase> {
  const { database, drop } = await cloneDatabase(readTestEnvironment(), template);
  t.teardown(drop);
  return database;
}

/** A clone of a template, with what closes its connections and what drops it, too. */
export async function cloneDatabase(
  urls: ServerUrls,
  template: string,
): Promise<{ database: TestDatabase; close: () => Promise<void>; drop: () => Promise<void> }> {
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`;
  const maintenanceUrl = urlWithDatabase(urls.adminUrl, 'postgres');
  await execute(maintenanceUrl, `create database ${name} template ${template} strategy file_copy`);

  const pools: pg.Pool[] = [];
  const open = (url: string) => {
    const pool = new pg.Pool({ connectionString: url, max: POOL_CONNECTIONS });
    // Tests cut connections on purpose; a query in hand is rejected all the same.
    pool.on('error', () => {});
    pools.push(pool);
    return pool;
  };
  const close = async () => {
    await Promise.all(pools.map((pool) => pool.end()));
  };
  const drop = async () => {
    await close();
    await execute(maintenanceUrl, `drop database if exists ${name} with (force)`);
  };

  const adminUrl = urlWithDatabase(urls.adminUrl, name);
  const serverUrl = urlWithDatabase(urls.serverUrl, name);
  const workerUrl = urlWithDatabase(urls.workerUrl, name);
  const authenticatorUrl = urlWithDatabase(urls.authenticatorUrl, name);
  const [admin, server, worker] = [open(adminUrl), open(serverUrl), open(workerUrl)];
  const database: TestDatabase = {
    name,
    adminUrl,
    serverUrl,
    workerUrl,
    authenticatorUrl,
    admin,
    asUser: (id, use) => transaction(server, use, 'authenticated', { sub: String(id) }),
    asAnonymous: (use) => transaction(server, use, 'anon', {}),
    asService: (claims, use) => transaction(server, use, 'service', claims),
    asWorker: (use) => transaction(worker, use),
    asServer: (use) => transaction(server, use),
    asOwner: (use) => transaction(admin, use, 'bellwire_owner'),
    asAdministrator: (use) => transaction(admin, use, 'bellwire_admin'),
  };
  return { database, close, drop };
}

async function transaction<T>(
  pool: pg.Pool,
  use: Use<T>,
  role?: string,
  claims?: Record<string, unknown>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    if (role) await client.query("select set_config('role', $1, true)", [role]);
    if (claims) {
      await client.query("select set_config('request.jwt.claims', $1, true)", [
        JSON.stringify({ role, ...claims }),
      ]);
    }
    const result = await use(client);
    await client.query('commit');
    return result;
  } catch (error) {
    // A connection that cannot even roll back is not given back to the pool.
    await client.query('rollback').catch((reason: Error) => {
      broken = reason;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
