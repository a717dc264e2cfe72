import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { Test } from 'tap';
import { setRolePasswords, startEmbedded } from '../../db/embedded.ts';
import { migrate } from '../../db/migrate.ts';
import type { TestDatabase } from './database.ts';
import type { TestEnvironment } from './environment.ts';

/** Reads as empty, and every write to it fails with ENOSPC. */
const FULL_DEVICE = '/dev/full';
const EMPTY_ATTEMPTS = 100;

/** Why these tests cannot run here, or false. */
export const noFullDevice = existsSync(FULL_DEVICE) ? false : `there is no ${FULL_DEVICE} here`;

/**
 * Gives this file a cluster of its own, in which every database it creates from now on is. What is
 * done to the files of a cluster must not reach the tests that share one.
 */
export async function useOwnCluster(t: Test): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bellwire-full-disk-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o711);
  // Not durable, and that matters here: a device cannot be synchronised.
  const cluster = await startEmbedded({ dataDir: path.join(folder, 'data'), durable: false });
  t.teardown(() => cluster.stop());
  await migrate(cluster.adminUrl);
  await setRolePasswords(cluster);
  const environment: TestEnvironment = {
    adminUrl: cluster.adminUrl,
    serverUrl: cluster.urlFor('bellwire_server'),
    workerUrl: cluster.urlFor('bellwire_worker'),
    authenticatorUrl: cluster.urlFor('authenticator'),
    template: new URL(cluster.adminUrl).pathname.slice(1),
  };
  process.env.BELLWIRE_TEST_ENVIRONMENT = JSON.stringify(environment);
}

/**
 * Empties a table and fills the disk for it: its new, empty file becomes a link to the device, so
 * that the first row written to it meets the kernel's own "No space left on device".
 * Nobody may be writing the table meanwhile. Returns what makes room again.
 */
export async function fillDisk(
  database: TestDatabase,
  table: string,
): Promise<() => Promise<void>> {
  const file = await withNewFile(database, table, emptyFile);
  // Its session has ended, so nobody has the file open; the next to look finds the link.
  await symlink(FULL_DEVICE, `${file}.link`);
  await rename(`${file}.link`, file);
  return () => withNewFile(database, table, async () => {});
}

/** The file of a table without rows, when it is really empty: a snapshot elsewhere may still see the rows. */
async function emptyFile(client: pg.Client, table: string): Promise<string> {
  for (let attempt = 0; attempt < EMPTY_ATTEMPTS; attempt += 1) {
    const { rows } = await client.query<{ file: string; bytes: string }>(
      `select current_setting('data_directory') || '/' || pg_relation_filepath($1) as file,
         pg_relation_size($1) as bytes`,
      [table],
    );
    if (rows[0]?.bytes === '0') return rows[0].file;
    await client.query(`vacuum full ${table}`);
  }
  throw new Error(`${table} did not get an empty file.`);
}

/** Deletes the rows, without setting anything off, and has the table written to a new file. */
async function withNewFile<T>(
  database: TestDatabase,
  table: string,
  use: (client: pg.Client, table: string) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
  try {
    await client.query('set session_replication_role = replica');
    await client.query(`delete from ${table}`);
    await client.query(`vacuum full ${table}`);
    return await use(client, table);
  } finally {
    await client.end();
  }
}
