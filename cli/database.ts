import { setRolePasswords, startEmbedded } from '../db/embedded.ts';
import { migrate } from '../db/migrate.ts';
import { databaseUrls } from '../db/urls.ts';
import type { Lifecycle } from './signals.ts';

const DEFAULT_DATA_FOLDER = '.bellwire';

export interface ReadyDatabase {
  admin: string;
  server: string;
  worker: string;
  authenticator: string;
  /** The folder of the embedded database; undefined for one that DATABASE_URL names. */
  folder: string | undefined;
}

/** A migrated embedded database, stopped with the process. */
export async function prepareEmbedded(
  lifecycle: Lifecycle,
  options: { data?: string; port?: number },
): Promise<ReadyDatabase> {
  const dataDir = options.data ?? (process.env.BELLWIRE_DATA || DEFAULT_DATA_FOLDER);
  const database = await startEmbedded({ dataDir, port: options.port, log: note });
  lifecycle.onStop('Postgres', () => database.stop());
  lifecycle.checkpoint();
  await migrate(database.adminUrl, { log: noteWarning });
  await setRolePasswords(database);
  lifecycle.checkpoint();
  return {
    admin: database.adminUrl,
    server: database.urlFor('bellwire_server'),
    worker: database.urlFor('bellwire_worker'),
    authenticator: database.urlFor('authenticator'),
    folder: database.dataDir,
  };
}

/** The database of DATABASE_URL, migrated; the embedded one without it. */
export async function prepareDatabase(
  lifecycle: Lifecycle,
  options: { data?: string },
): Promise<ReadyDatabase> {
  const { admin, server, worker, authenticator } = databaseUrls(process.env);
  if (!admin || !server || !worker || !authenticator) {
    // Not the other options: the port on that command line is the web server's.
    return prepareEmbedded(lifecycle, { data: options.data });
  }
  if (options.data) {
    throw new Error('--data is for the embedded database, and DATABASE_URL names another one.');
  }
  await migrate(admin, { log: noteWarning });
  lifecycle.checkpoint();
  return { admin, server, worker, authenticator, folder: undefined };
}

/** Progress goes to standard error: standard output is for what a program may read. */
function note(line: string): void {
  console.error(line);
}

function noteWarning(line: string): void {
  if (line.startsWith('warning:')) note(line);
}
